/** What the API of a campaign delivers for a path. */
export declare const goodsOf: (path: string) => Buffer;
