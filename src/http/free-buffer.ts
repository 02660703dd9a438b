/** A transfer to it detaches the memory from the sender, and nothing receives it. */
const closed = new MessageChannel().port1;
closed.close();

/**
 * Frees the memory of a buffer at once; its length is 0 afterwards. The garbage collector would
 * free it after some 32 MiB more, and the allocator keeps most of what it needed at its peak.
 * Does nothing to a part of a larger memory, which other buffers may share.
 */
export function freeBuffer({ buffer, byteLength }: Buffer): void {
  if (buffer.byteLength === byteLength) closed.postMessage(null, [buffer as ArrayBuffer]);
}
