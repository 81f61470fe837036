/**
 * The first port of `npm start`. Few programs use it, unlike 3000, which is the default of many.
 * The services without a public address have the ports after it.
 */
export const LOCAL_PORT = 3402;
/** The gateway of `npm start`, as documents and the command line name it. */
export const LOCAL_API = `http://127.0.0.1:${LOCAL_PORT}`;
