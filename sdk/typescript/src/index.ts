/** The client of a unitask service. */
export { Unitask } from './client.js'
export type { CallOptions, CreateOptions, ListQuery, SubmitOptions, WaitOptions } from './client.js'
export { UnitaskError } from './errors.js'
export type { ErrorCode, ErrorDetail, ServiceCode } from './errors.js'
export type { StreamEvent } from './following.js'
export type { Piece } from './heard.js'
export type { Options } from './transport.js'
export { ended } from './types.js'
export type {
  Capability,
  InputOf,
  OutputOf,
  ParametersOf,
  State,
  SucceededTask,
  Task,
  TaskError,
  TaskRequest,
  Usage,
} from './types.js'
export type { Upload, UploadOptions } from './upload.js'
export { verifyWebhook, WebhookError } from './webhook.js'
export type { TaskEvent, TestEvent, WebhookEvent, WebhookOptions } from './webhook.js'
export type * from './capabilities.js'
