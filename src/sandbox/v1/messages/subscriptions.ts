import { message, readOnly, text } from '../message.ts'

/** Subscription (facts §8). */
export const subscription = message('Subscription', [readOnly(text('id', { from: 'uid' })), text('sink')], ['group_id'])
