/** The part of the type that is needed; Node's types lack it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

/** Makes an engine of a WebAssembly module in base64: `instantiate<Engine>(ENGINE, { host })`. The caller knows what it exports. */
export function instantiate<Exports>(base64: string, imports: object): Exports {
  return new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(base64, 'base64')), imports).exports as Exports
}
