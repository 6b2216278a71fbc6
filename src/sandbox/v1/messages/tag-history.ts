import { list, message, object, text, time } from '../message.ts'

const tagHistory = message('TagHistory', [time('update_timestamp', { from: 'updateTime' }), text('digest')])

export const tagHistoryList = message('TagHistoryList', [list(object(tagHistory)('items'))])
