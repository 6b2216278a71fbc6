import { lengthOf, type Make, type Shape } from './make.ts'

/** The body is sent after the first bytes of an answer, or at once. */
function expecting(expect: string, behaviour: string, isAtOnce: boolean, method = 'POST') {
  return (make: Make) => {
    const head = make.head(method, [`expect: ${expect}`, lengthOf(make.hidden)], { behaviour })
    return isAtOnce ? head + make.hidden : [head, make.hidden]
  }
}

const CONTINUE = '100-continue'

/** `Expect: 100-continue`, answered in every way, and other expectations. */
export const expectationShapes: readonly Shape[] = [
  ...['ok', 'early200', 'early401', 'early417', 'close401'].flatMap((behaviour): Shape[] => [
    { name: `expecting to continue, answered ${behaviour}`, bytes: expecting(CONTINUE, behaviour, false) },
    { name: `expecting to continue, answered ${behaviour}, the body sent at once`, bytes: expecting(CONTINUE, behaviour, true) },
  ]),
  { name: 'GET expecting to continue', bytes: expecting(CONTINUE, 'early401', false, 'GET') },
  { name: 'DELETE expecting to continue', bytes: expecting(CONTINUE, 'early401', true, 'DELETE') },
  { name: 'expecting to continue twice', bytes: expecting(`${CONTINUE}\r\nexpect: ${CONTINUE}`, 'early401', true) },
  { name: 'expecting something and to continue', bytes: expecting(`y ${CONTINUE}`, 'early401', true) },
  { name: 'expecting to continue in capitals', bytes: expecting('100-CONTINUE', 'ok', false) },
  { name: 'expecting something else', bytes: expecting('200-ok', 'ok', true) },
  { name: 'expecting to continue without a body', bytes: ({ head }) => head('GET', [`expect: ${CONTINUE}`]) },
  {
    name: 'expecting to continue, and the next request instead of the body',
    bytes: (make) => [make.head('POST', [`expect: ${CONTINUE}`, lengthOf(make.hiddenWhole)], { behaviour: 'early417' }), make.hiddenWhole],
  },
]
