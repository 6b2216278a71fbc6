/**
 * A handler of an event that cannot throw out of itself: an exception there would end the process, and with it every other request.
 * `thrown` is told instead, with what the handler was given; it ends what the event was about.
 */
export function guarded<A extends unknown[]>(handler: (...given: A) => void, thrown: (error: unknown, ...given: A) => void) {
  return (...given: A): void => {
    try {
      handler(...given)
    } catch (error) {
      thrown(error, ...given)
    }
  }
}
