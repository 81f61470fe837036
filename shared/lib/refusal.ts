/** An error for the operator: its message is printed without a stack trace. */
export class Refusal extends Error {
  override name = 'Refusal';
}
