/** Makes the button of narrow screens open and close the list of pages, and shows the current page in that list. */
export function prepareMenu(): void {
  const button = document.querySelector<HTMLButtonElement>('button.menu')
  const pages = document.getElementById('pages')
  if (!button || !pages) return
  const set = (isOpen: boolean) => {
    button.setAttribute('aria-expanded', String(isOpen))
    pages.classList.toggle('open', isOpen)
  }
  button.addEventListener('click', () => set(button.getAttribute('aria-expanded') !== 'true'))
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') set(false)
  })
  const current = pages.querySelector<HTMLElement>('[aria-current]')
  if (current && current.offsetTop > pages.clientHeight) pages.scrollTop = current.offsetTop - pages.clientHeight / 2
}
