/** Resolves after so many milliseconds. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/**
 * Waits so many milliseconds for a store's answer and no longer. An answer that comes too late goes to `late`.
 *
 * @throws Error when the time is over, or whatever the call threw
 */
export async function within<T>(ms: number, answer: Promise<T>, late?: (value: T) => void): Promise<T> {
  let over = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  answer.then(
    (value) => over && late?.(value),
    () => {}, // After the time is over nobody else hears of it.
  );
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      over = true;
      reject(new Error(`The store did not answer within ${Math.round(ms)} ms.`));
    }, ms);
  });
  try {
    return await Promise.race([answer, end]);
  } finally {
    clearTimeout(timer);
  }
}
