/** Gives every block of code a button that copies it. */
export function prepareCopying(): void {
  if (!navigator.clipboard) return
  for (const block of document.querySelectorAll<HTMLPreElement>('main pre')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '')
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2000)
    })
    const box = document.createElement('div')
    box.className = 'code'
    block.replaceWith(box)
    box.append(block, button)
  }
}
