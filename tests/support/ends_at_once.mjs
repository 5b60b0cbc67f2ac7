// Imported for its effect: a finished test process exits at once. Otherwise Node may spin for ever on a
// socket that was cut while it connected (seen with Node 20.20), and the faults cut many.
process.once('beforeExit', () => {
  process.on('exit', () => process.exit()); // after the handlers of node:test, which set the exit code
});
