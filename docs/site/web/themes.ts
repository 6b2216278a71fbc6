/** Shows the button that changes between the light and the dark theme, and keeps the choice. */
export function prepareThemes(): void {
  const button = document.querySelector<HTMLButtonElement>('button.theme')
  if (!button) return
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const root = document.documentElement
  const isDark = () => (root.dataset.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark'
  const name = () => {
    button.textContent = isDark() ? 'Light' : 'Dark'
    button.setAttribute('aria-label', `Change to the ${isDark() ? 'light' : 'dark'} theme`)
  }
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark'
    localStorage.setItem('theme', root.dataset.theme)
    name()
  })
  dark.addEventListener('change', name)
  name()
  button.hidden = false
}
