/** The chosen theme. Without a choice the reader's system decides. */
const chosen = localStorage.getItem('theme')
if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen
