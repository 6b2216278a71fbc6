import type { ErrorGroup } from './error-row.ts'

export const valueErrors: ErrorGroup = {
  title: 'A parameter or a member is wrong',
  about:
    'What begins with `Invalid argument:` names each wrong field before its reason, at most a hundred. The details hold the same as a BadRequest.',
  rows: [
    {
      code: 'INVALID_ARGUMENT',
      texts: [
        '… is not a valid value',
        '… is not an RFC 3339 time',
        'strconv.ParseBool: parsing …: invalid syntax',
        'strconv.ParseInt: parsing …: invalid syntax',
        'strconv.ParseInt: parsing …: value out of range',
        'too many values for field "…": …',
        'must be non-negative',
      ],
      cause: 'A query parameter is not of its type, or occurs twice',
      remedy: 'Look up its type on the page of the operation, or in `crosswalk openapi`',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: ['must be one of …, optionally followed by asc or desc', 'cannot be combined with … and …'],
      cause: 'The order or the window of a list makes no sense: an unknown column, or two ways to page at once',
      remedy: 'Name one column; use `offset` with `limit`, or a page with its size',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: [
        '… is not a valid uid',
        'must not be empty',
        'must not have a slash: it is one segment of a path',
        'must be fewer below a parent with so long an id',
      ],
      cause: 'A value that cannot be an id, such as a name or an empty text',
      remedy: 'Send the `id` that a v1 list returns',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: [
        'must be a JSON object',
        'must be an object',
        'must be a list',
        'must be a string',
        'must be true or false',
        'must be a 32-bit integer',
        'must be an integer from 0 to 2147483647',
        'must be a 64-bit integer, as a string',
        'must be a number of up to 53 bits',
        'must be an RFC 3339 timestamp',
        'must be a duration in seconds such as "3600s"',
        'must be a …',
        'must be one of …',
      ],
      cause:
        'A member of the body is not of its type, or an enum has no such value. A header that chooses the mode answers with the last text too',
      remedy: 'Send the type that the text names',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: ['is given twice, as … too'],
      cause: 'The body has a member in both spellings, `snake_case` and `lowerCamelCase`',
      remedy: 'Send one of them',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: ['is not a parameter of this operation'],
      cause: '`unknownParameters` is `refuse`, and v1 has no such parameter',
      remedy: 'Leave it out; v1 ignored it',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: ['cannot be changed: v2 has no way to rename a tag; create "…" and delete this one'],
      cause: 'v1 could rename a tag',
      remedy: 'Create the new tag and delete the old one ([why](differences.md#tag-rename))',
    },
    {
      texts: ['needs a v1 service: …; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on'],
      cause: 'v2 has no such operation (UNIMPLEMENTED), parameter or value (INVALID_ARGUMENT), and no v1 service is set',
      remedy: 'Set `upstream.v1`; or move the client to what [comes closest in v2](modes.md#what-only-v1-answers)',
    },
  ],
}
