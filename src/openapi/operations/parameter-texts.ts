/** What the parameters of every list do, by their names in the tables (facts §10.4, specification §9.5). */
export const PARAMETER_TEXTS: Readonly<Record<string, string>> = {
  'uidp.ancestors_of': 'Only the chain from this uid up to its root.',
  'uidp.descendants_of': 'Only what is below this uid, at any depth.',
  'uidp.children_of': 'Only the direct children of this uid.',
  'uidp.in_root': 'Only what has no parent.',
  'uidp.ids': 'Only what has one of these uids.',
  order_by: 'The order of the rows: a column, optionally followed by a space and asc or desc.',
  offset: 'The number of rows to leave out. It may stand beside limit alone.',
  limit: 'The largest number of rows. It may stand beside offset alone.',
  page: 'The page, counted from 1. It may stand beside page_size alone.',
  page_size: 'The number of rows of a page.',
  page_number: 'The page, counted from 1. It may stand beside per_page alone.',
  per_page: 'The number of rows of a page. It may stand beside page_number alone.',
  page_token: 'The page token of the answer before. Without one the list begins at its first row.',
  skip: 'The number of rows to leave out, counted from the page token.',
}

/** Those of them that are whole numbers. */
export const WHOLE_NUMBERS: ReadonlySet<string> = new Set(['offset', 'limit', 'page', 'page_size', 'page_number', 'per_page', 'skip'])
