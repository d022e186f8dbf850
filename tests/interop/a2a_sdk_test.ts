import { type AgentCard, Role, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from "@a2a-js/sdk/server";
import { block, deltas, text } from "../../src/testing/mod.ts";
import { remote, serve } from "../a2a/fixtures.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";

/** The official client over a function that answers. */
async function officialClient(
  handler: (request: Request) => Promise<Response>,
): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) =>
    handler(new Request(input, init));
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return await factory.createFromUrl("http://served.example");
}

/** What the official client sends. */
function request(words: string, contextId = "") {
  return {
    tenant: "",
    metadata: undefined,
    configuration: undefined,
    message: {
      messageId: crypto.randomUUID(),
      contextId,
      taskId: "",
      role: Role.ROLE_USER,
      parts: [textPart(words)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}

test("the official client sends a message and gets the task", {
  case: "PL-F-08",
}, async () => {
  const { handler, contexts } = serve([text("hello")]);
  const client = await officialClient(handler);
  assertEquals((await client.getAgentCard()).name, "Served");
  const task = await client.sendMessage(request("hi", "mine")) as Task;
  assertEquals(
    [task.contextId, task.status?.state, textOf(task)],
    ["mine", TaskState.TASK_STATE_COMPLETED, "hello"],
  );
  assertEquals(contexts, ["mine"]);
  assertEquals(await client.getTask({ tenant: "", id: task.id }), task);
});

test("the official client reads a stream", { case: "PL-F-08" }, async () => {
  const { handler } = serve([deltas(["he", "llo"])]);
  const client = await officialClient(handler);
  const seen: unknown[] = [];
  for await (const { payload } of client.sendMessageStream(request("hi"))) {
    if (payload?.$case === "artifactUpdate") {
      const { artifact, append } = payload.value;
      seen.push([artifact?.parts[0]?.content?.value, append]);
    } else if (payload?.$case === "statusUpdate") {
      seen.push(payload.value.status?.state);
    } else seen.push(payload?.$case);
  }
  assertEquals(seen, [
    "task",
    TaskState.TASK_STATE_WORKING,
    ["he", false],
    ["llo", true],
    TaskState.TASK_STATE_COMPLETED,
  ]);
});

test("the official client cancels a task and asks for one that is not", {
  case: "PL-F-08",
}, async () => {
  const gate = block();
  const client = await officialClient(serve([gate]).handler);
  const stream = client.sendMessageStream(request("hi"));
  const first = await stream.next();
  const { payload } = first.value!;
  const id = payload?.$case === "task" ? payload.value.id : "";
  await gate.entered;
  const cancelled = await client.cancelTask({
    tenant: "",
    id,
    metadata: undefined,
  });
  assertEquals(cancelled.status?.state, TaskState.TASK_STATE_CANCELED);
  await stream.return(undefined);
  const unknown = await assertRejects(() =>
    client.getTask({ tenant: "", id: "nothing" })
  );
  assertEquals(unknown.name, "TaskNotFoundError");
});

const sdkCard: AgentCard = {
  name: "Official",
  description: "Answers.",
  version: "1",
  supportedInterfaces: [{
    url: "http://far.example/",
    protocolBinding: "JSONRPC",
    protocolVersion: "1.0",
    tenant: "",
  }],
  capabilities: { streaming: true, extensions: [] },
  provider: undefined,
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  signatures: [],
};

/** The official server around an executor, as a function that answers. */
function officialServer(
  executor: AgentExecutor,
): (request: Request) => Promise<Response> {
  const rpc = new JsonRpcTransportHandler(
    new DefaultRequestHandler(sdkCard, new InMemoryTaskStore(), executor),
  );
  return async (request) => {
    const body = await request.json();
    const answer = await rpc.handle(
      body,
      new ServerCallContext({ requestedVersion: "1.0" }),
    );
    if (!(Symbol.asyncIterator in answer)) return Response.json(answer);
    const frames = answer[Symbol.asyncIterator]();
    const encoder = new TextEncoder();
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await frames.next();
        if (done) return controller.close();
        controller.enqueue(
          encoder.encode(`data: ${JSON.stringify(value)}\n\n`),
        );
      },
    });
    return new Response(stream, {
      headers: { "content-type": "text/event-stream" },
    });
  };
}

/** Tells the official server how a task goes. */
function teller({ taskId, contextId }: RequestContext, bus: ExecutionEventBus) {
  const message = (words: string) => ({
    messageId: crypto.randomUUID(),
    contextId,
    taskId,
    role: Role.ROLE_AGENT,
    parts: [textPart(words)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  });
  const status = (state: TaskState, words?: string) => ({
    state,
    message: words === undefined ? undefined : message(words),
    timestamp: undefined,
  });
  return {
    task: () =>
      bus.publish(AgentEvent.task({
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history: [],
        metadata: undefined,
      })),
    status: (state: TaskState, words?: string) =>
      bus.publish(AgentEvent.statusUpdate({
        taskId,
        contextId,
        status: status(state, words),
        metadata: undefined,
      })),
    artifact: (words: string, append: boolean) =>
      bus.publish(AgentEvent.artifactUpdate({
        taskId,
        contextId,
        artifact: {
          artifactId: "a",
          name: "",
          description: "",
          parts: [textPart(words)],
          metadata: undefined,
          extensions: [],
        },
        append,
        lastChunk: false,
        metadata: undefined,
      })),
    message: (words: string) => bus.publish(AgentEvent.message(message(words))),
  };
}

/** Echoes in two pieces; asks back when it is told to; is silent when told to wait. */
class Echo implements AgentExecutor {
  readonly #released = deferred();

  async execute(context: RequestContext, bus: ExecutionEventBus) {
    const tell = teller(context, bus);
    const part = context.userMessage.parts[0];
    const said = part?.content?.$case === "text" ? part.content.value : "";
    if (said === "greet") {
      tell.message("hello");
    } else {
      tell.task();
      tell.status(TaskState.TASK_STATE_WORKING, "thinking");
      if (said === "ask") {
        tell.status(TaskState.TASK_STATE_INPUT_REQUIRED, "what?");
      } else if (said === "wait") {
        await this.#released.promise;
      } else {
        tell.artifact(`${said}, `, false);
        tell.artifact(said, true);
        tell.status(TaskState.TASK_STATE_COMPLETED);
      }
    }
    bus.finished();
  }

  cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const place = { taskId, contextId: "" } as RequestContext;
    teller(place, bus).status(TaskState.TASK_STATE_CANCELED);
    this.#released.resolve();
    return Promise.resolve();
  }
}

for (const streaming of [true, false]) {
  test(
    `the official server is asked ${
      streaming ? "for a stream" : "for an answer"
    }`,
    {
      case: "PL-F-08",
    },
    async () => {
      const { agent, calls } = remote(officialServer(new Echo()), {
        url: undefined!,
        card: { ...sdkCard, capabilities: { streaming } } as never,
      });
      const outputs: unknown[] = [];
      for (const said of ["greet", "hi", "ask", "me", "again"]) {
        const { status, output } = await agent.run(said);
        outputs.push([status, output]);
      }
      assertEquals(outputs, [
        ["completed", "hello"],
        ["completed", "hi, hi"],
        ["completed", "what?"],
        ["completed", "me, me"],
        ["completed", "again, again"],
      ]);
      const messages = calls.map(({ params }) => params.message);
      assertEquals(new Set(messages.slice(1).map((m) => m.contextId)).size, 1);
      // The third task asked, so the fourth message goes on with it.
      assertEquals(
        [typeof messages[3].taskId, typeof messages[4].taskId],
        ["string", "undefined"],
      );
      assertEquals(
        calls.every(({ method }) =>
          method === (streaming ? "SendStreamingMessage" : "SendMessage")
        ),
        true,
      );
    },
  );
}

test("a task of the official server is cancelled", {
  case: "PL-F-08",
}, async () => {
  const { agent, calls } = remote(officialServer(new Echo()));
  const stream = agent.stream("wait");
  for await (const event of stream) {
    if (event.kind === "assistant_thinking_delta") break;
  }
  assertEquals((await stream.finalResult()).status, "cancelled");
  assertEquals(calls.map(({ method }) => method), [
    "SendStreamingMessage",
    "CancelTask",
  ]);
});

function textPart(value: string) {
  return {
    content: { $case: "text" as const, value },
    metadata: undefined,
    filename: "",
    mediaType: "text/plain",
  };
}

function textOf({ artifacts }: Task): string {
  return artifacts.flatMap(({ parts }) =>
    parts.map(({ content }) => content?.$case === "text" ? content.value : "")
  ).join("");
}
