import { render } from 'preact'
import type { Report } from '../report.ts'
import { App } from './app.tsx'
import './style.css'

const root = document.getElementById('app')
const data = document.getElementById('report')
if (root && data) render(<App first={JSON.parse(data.textContent ?? '') as Report} live={data.dataset.live} />, root)
