/** Repeats a task without keeping the process alive; the returned function ends that. */
export function every(ms: number, task: () => void): () => void {
  const timer = setInterval(task, ms);
  // Elsewhere than in Node timers are numbers.
  if (typeof timer === "object") timer.unref();
  return () => clearInterval(timer);
}
