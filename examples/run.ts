/** `npm run example first-message` runs `first-message/main.ts`. */
const [name] = process.argv.slice(2);
if (name === undefined || !/^[a-z-]+$/.test(name)) {
  console.error('Name an example, such as: npm run example first-message');
  process.exit(1);
}
const example = (await import(`./${name}/main.js`)) as { main(): Promise<void> };
await example.main();
