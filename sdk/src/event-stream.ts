/** Whether a content type is that of a stream of events, which may have no end of its own. */
export const isEventStream = (contentType: string | null | undefined): boolean =>
  /^text\/event-stream\b/i.test(contentType ?? '');
