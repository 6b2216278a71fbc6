import { list, map, message, object, text } from '../message.ts'

const exposedPort = message('ImageConfig.ExposedPort', [])
const volume = message('ImageConfig.Volume', [])

/** ImageConfig (facts §22): the start configuration of a container of the image. */
export const imageConfig = message('ImageConfig', [
  text('user'),
  map(object(exposedPort)('exposed_ports')),
  list(text('env')),
  list(text('entrypoint')),
  list(text('cmd')),
  map(object(volume)('volumes')),
  text('working_dir'),
  map(text('labels')),
  text('stop_signal'),
])
