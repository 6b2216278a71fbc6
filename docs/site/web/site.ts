import { prepareCopying } from './copying.ts'
import { prepareMenu } from './menu.ts'
import { prepareSearch } from './search.ts'
import './style/site.css'
import { prepareThemes } from './themes.ts'

prepareThemes()
prepareMenu()
prepareCopying()
prepareSearch()
