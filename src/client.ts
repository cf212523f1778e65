// volley-mcp/client: connect to a server, call it, answer what it asks.
//
// connect            HTTP, stdio or a transport of one's own, to a Client
// isStateRefused     a waiting round that can only be started again
// pendingOf          what a call that failed would have gone on with: nobody is asked again
// TaskData           a task that another process can go on with
// readForm, defaults, checkContent, checkUrl   for rounds by hand: what a question's handler would have been given
export * from "./client/index.ts";
export {
  type BooleanField,
  type ChoiceField,
  type ChoicesField,
  checkContent,
  defaults,
  type Field,
  type FieldValue,
  type FormContent,
  type NumberField,
  type Option,
  type Problem,
  readForm,
  type StringField,
} from "./elicit/index.ts";
export type {
  CancelledTask,
  CompletedTask,
  DetailedTask,
  FailedTask,
  InputRequiredTask,
  Task,
  TaskStatus,
  WorkingTask,
} from "./protocol/index.ts";
