import { int64, list, message, object, optional, text, time } from '../message.ts'
import { advisoryEvent } from './advisory-events.ts'

/** Advisory (facts §5.1). Its times already have the specification's names. One id keeps the contract's spelling. */
export const advisory = message('Advisory', [
  text('id', { from: 'uid' }),
  text('artifact_type'),
  text('artifact_name'),
  text('artifact_architecture'),
  optional(text('component_name')),
  optional(text('component_location')),
  optional(text('component_type')),
  time('created_at', { from: 'createTime' }),
  time('updated_at', { from: 'updateTime' }),
  optional(time('deleted_at', { from: 'deleteTime' })),
  list(text('aliases')),
  list(object(advisoryEvent)('events')),
  text('advisory_id'),
  text('author'),
  optional(text('legacyAdvisoryID', { from: 'legacyAdvisoryId' })),
])

export const advisoriesList = message('AdvisoriesList', [
  text('id'),
  list(object(advisory)('items')),
  text('next_page_token'),
  optional(int64('total_count')),
])
