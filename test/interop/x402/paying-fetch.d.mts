type PayingFetch = (input: string, init?: RequestInit) => Promise<Response>;
/** `secretKey`: Solana's 64 bytes in base64. */
export declare function payingFetchOf(settings: { rpcUrl: string; secretKey: string }): Promise<PayingFetch>;
