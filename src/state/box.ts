/** Authenticated encryption under one key with a fresh random nonce each time: nonce (24) || ciphertext || tag (16). */
export interface Box {
  /** Encrypts; a string is taken as UTF-8. */
  seal(plaintext: Uint8Array | string, aad: Uint8Array): Buffer;
  /** Decrypts, or undefined when anything is not as it was sealed. */
  open(sealed: Uint8Array, aad: Uint8Array): Buffer | undefined;
}
