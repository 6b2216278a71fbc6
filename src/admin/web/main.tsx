import { render } from 'preact'
import type { Report } from '../report/report.ts'
import { Page } from './app.tsx'
import './style.css'

const root = document.getElementById('app')
const data = document.getElementById('report')
if (root && data) render(<Page first={JSON.parse(data.textContent ?? '') as Report | null} address={data.dataset.live} />, root)
