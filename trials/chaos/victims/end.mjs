// One end of a connection, in the main thread or in a worker: commands by messages, each with a response.

export class End {
  #config;
  #side;
  #current;

  constructor(config) {
    this.#config = config;
  }

  async run(command, argument) {
    switch (command) {
      case 'open': {
        const { openSide } = await import(`./packages/${this.#config.package}.mjs`);
        this.#side = openSide(this.#config);
        return {};
      }
      case 'make':
        await this.#current?.close();
        this.#current = this.#side.make();
        return this.#current.endpoint;
      case 'connect':
        return await this.#current.connect(argument);
      case 'start':
        this.#current.start(argument.peer, argument.limit ?? Infinity);
        return {};
      case 'stop':
        await this.#current.stop();
        return this.#current.report();
      case 'report':
        return this.#current.report();
      case 'close':
        await this.#current?.close();
        await this.#side?.close();
        this.#current = undefined;
        this.#side = undefined;
        return {};
      case 'collect':
        globalThis.gc?.();
        return {};
      default:
        throw new Error(`${command}: no such command of an end`);
    }
  }
}
