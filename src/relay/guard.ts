/**
 * Wraps an event handler so that it cannot throw: an exception would end the process and every other request.
 * `thrown` takes the exception and the handler's arguments, and ends what the event was about.
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
