// Events between one who tells them and one who reads them when there is time.

/** A bounded line of events. */
export interface EventQueue<T> {
  /** Adds an event; one with the key of an event that is still waiting says nothing new and is left out. */
  push(event: T, key?: string): void;
  /** Nothing follows; with an error, the reader gets it after the events. */
  end(error?: unknown): void;
  next(): Promise<IteratorResult<T, undefined>>;
}

interface Reader<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes a queue of at most `limit` events; when one more comes, all of them are replaced by what `overflow` makes. */
export function createQueue<T>(limit: number, overflow: () => T): EventQueue<T> {
  let events: { readonly event: T; readonly key: string | undefined }[] = [];
  const readers: Reader<T>[] = [];
  let ending: { readonly error: unknown } | undefined;

  return {
    push(event, key) {
      if (ending !== undefined) return;
      const reader = readers.shift();
      if (reader !== undefined) return reader.resolve({ done: false, value: event });
      if (key !== undefined && events.some((waiting) => waiting.key === key)) return;
      if (events.length >= limit) events = [{ event: overflow(), key: undefined }];
      else events.push({ event, key });
    },
    end(error) {
      if (ending !== undefined) return;
      ending = { error };
      const [first, ...others] = readers.splice(0);
      if (error === undefined) first?.resolve({ done: true, value: undefined });
      else {
        first?.reject(error);
        if (first !== undefined) ending = { error: undefined };
      }
      for (const reader of others) reader.resolve({ done: true, value: undefined });
    },
    next() {
      const waiting = events.shift();
      if (waiting !== undefined) return Promise.resolve({ done: false, value: waiting.event });
      if (ending === undefined) return new Promise((resolve, reject) => readers.push({ resolve, reject }));
      const { error } = ending;
      ending = { error: undefined };
      return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
    },
  };
}
