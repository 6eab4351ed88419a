/** The response to a command: its result, or its error, either with the command's number. */
export async function answerTo(id, run) {
  try {
    return { id, result: (await run()) ?? {} };
  } catch (error) {
    return { id, error: { code: error?.code, message: String(error?.message ?? error), stack: error?.stack } };
  }
}
