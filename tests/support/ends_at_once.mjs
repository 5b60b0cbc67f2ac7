// Imported for its effect: a test process that is done ends at once. Node takes its environment apart first, and with a socket that was
// cut while it connected (what the faults do all day) it may wait for that socket forever, at full speed (seen with Node 20.20).
process.once('beforeExit', () => {
  process.on('exit', () => process.exit()); // behind the handlers of node:test, which set the exit code
});
