import {
  type AgentEvent,
  assistantMessage,
  BaseHandler,
  complete,
  defineTool,
  type MessageCompleted,
  proceed,
  type ToolDefinitionInput,
} from "../../mod.ts";
import { answer, calls, fail, text } from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertStrictEquals,
  assertStringIncludes,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  agentWith,
  boom,
  done,
  echo,
  read,
  rej,
  shapeOf,
  toolResultsOf,
} from "./fixtures.ts";

test(
  "a tool turn feeds its result to the next request",
  { case: "X-041" },
  async () => {
    const { agent, sink, model } = agentWith([calls(["echo"]), text("fin")], {
      tools: [echo],
    });
    await agent.run("go");
    assertEquals(
      sink.trace(),
      "AS TS1 MC tS(c1) tC(c1) TC1 TS2 MC TC2 AF(completed/text_response)",
    );
    const { result, toolCall } = sink.ofKind("tool_completed")[0]!;
    assertEquals([result.error, result.cancelled, result.messages.length], [
      null,
      false,
      1,
    ]);
    assertEquals(result.messages[0]?.tool_call_id, "c1");
    assertStrictEquals(sink.ofKind("tool_started")[0]?.toolCall, toolCall);
    assertEquals(shapeOf(agent.messages), "u a+ t(c1) a");
    assertEquals(model.contexts[1]?.llmMessages.at(-1)?.content, '{"e":{}}');
  },
);

test(
  "text beside calls is kept but is not the output",
  { case: "X-042" },
  async () => {
    const { agent } = agentWith([
      calls(["echo"], { content: "thinking aloud" }),
      text("fin"),
    ], {
      tools: [echo],
    });
    assertEquals((await agent.run("go")).output, "fin");
    assertEquals(
      agent.messages.find((message) => message.role === "assistant")?.content,
      "thinking aloud",
    );
  },
);

test(
  "a tool that throws is an answer to the model",
  { case: "X-043" },
  async () => {
    const { agent, sink } = agentWith([calls(["boom"]), text("ok")], {
      tools: [boom],
    });
    assertEquals((await agent.run("go")).output, "ok");
    assertEquals(sink.ofKind("tool_completed")[0]?.result.error, "boom");
    assertEquals(toolResultsOf(agent.messages), [{
      status: "error",
      tool: "boom",
      error: "boom",
    }]);
  },
);

test(
  "bad arguments never reach the tool",
  { case: ["X-044", "TL-45"] },
  async () => {
    let callCount = 0;
    const tool = defineTool({ name: "echo", execute: () => ++callCount });
    for (const bad of ["[1, 2]", "null", '"x"', "5", "{bad"]) {
      const { agent, sink } = agentWith(
        [calls([{ name: "echo", arguments: bad }]), text("ok")],
        { tools: [tool] },
      );
      assertEquals((await agent.run("go")).output, "ok");
      const error = sink.ofKind("tool_completed")[0]?.result.error;
      assertEquals(
        error,
        bad === "{bad"
          ? "arguments are not valid JSON"
          : "arguments must be a JSON object",
      );
    }
    assertEquals(callCount, 0);
  },
);

test(
  "blank arguments are an empty object",
  { case: ["X-045", "TL-47", "B23"] },
  async () => {
    for (const blank of ["", "  "]) {
      const { agent } = agentWith([
        calls([{ name: "echo", arguments: blank }]),
        text("ok"),
      ], {
        tools: [echo],
      });
      await agent.run("go");
      assertEquals(toolResultsOf(agent.messages), [{ e: {} }]);
    }
  },
);

test("an unknown tool is answered with the known ones", {
  case: ["X-046", "TL-49"],
}, async () => {
  const { agent, model } = agentWith([calls(["nope"]), text("ok")], {
    tools: [read, echo],
  });
  assertEquals((await agent.run("go")).output, "ok");
  assertEquals(toolResultsOf(agent.messages), [{
    status: "error",
    tool: "nope",
    error: 'unknown tool "nope" (available: echo, read)',
  }]);
  const bare = agentWith([calls(["nope"]), text("ok")]);
  assertEquals((await bare.agent.run("go")).output, "ok");
  assertEquals(bare.model.contexts[0]?.tools, []);
  assertEquals(model.contexts[0]?.tools.length, 2);
});

test("calls behind the one that ends the run are settled as skipped", {
  case: "X-049",
}, async () => {
  const { agent, sink } = agentWith([
    calls(["echo", "rej", "read"]),
  ], { tools: [echo, rej, read] });
  const result = await agent.run("go");
  assertEquals([result.status, result.stopReason], [
    "rejected",
    "tool_rejected",
  ]);
  assertEquals(shapeOf(agent.messages), "u a+ t(c1) t(c2) t(c3)");
  assertEquals(
    sink.trace(),
    "AS TS1 MC tS(c1) tC(c1) tS(c2) tC(c2) tS(c3) tC(c3,cancelled) TC1 AF(rejected/tool_rejected)",
  );
  assertEquals(toolResultsOf(agent.messages)[2], {
    status: "cancelled",
    tool: "read",
    error: "skipped because an earlier tool call ended the run",
  });
});

test("a message is in the history before its event", {
  case: ["X-051", "TL-90"],
}, async () => {
  const seen: string[] = [];
  const { agent } = agentWith([
    calls(["echo", { name: "echo", arguments: { k: 1 } }]),
    text("x"),
  ], {
    tools: [echo],
    onEvent: (event: AgentEvent) => {
      const last = agent.messages.at(-1);
      if (event.kind === "agent_started") seen.push(`AS ${last?.role}`);
      if (event.kind === "message_completed") seen.push(`MC ${last?.role}`);
      if (event.kind === "tool_completed") {
        seen.push(
          `tC ${event.toolCall.id} ${
            last?.role === "tool" ? last.tool_call_id : ""
          }`,
        );
      }
    },
  });
  await agent.run("go");
  assertEquals(seen, [
    "AS user",
    "MC assistant",
    "tC c1 c1",
    "tC c2 c2",
    "MC assistant",
  ]);
});

test("calls that share an id are refused before anything happens", {
  case: "X-063",
}, async () => {
  const call = { id: "c1", name: "echo", arguments: "{}" };
  const { agent, sink } = agentWith([
    answer(assistantMessage(null, [call, call])),
  ], {
    tools: [echo],
  });
  const result = await agent.run("go");
  assertEquals([result.stopReason, result.failure?.code], [
    "runtime_error",
    "protocol_error",
  ]);
  assertEquals(sink.trace(), "AS TS1 TC1 AF(failed/runtime_error)");
  assertEquals(shapeOf(agent.messages), "u");
});

test("the same id in two turns is fine", { case: "X-063" }, async () => {
  const { agent } = agentWith([calls(["echo"]), calls(["read"]), text("ok")], {
    tools: [echo, read],
  });
  assertEquals((await agent.run("go")).output, "ok");
  assertEquals(shapeOf(agent.messages), "u a+ t(c1) a+ t(c1) a");
});

test(
  "a changed list of tools takes effect at the next turn",
  { case: "X-064" },
  async () => {
    class Growing extends BaseHandler {
      tools: ToolDefinitionInput[] = [{ name: "echo" }, { name: "change" }];
      dispatch(name: string) {
        if (name === "change") this.tools = [{ name: "fresh" }];
        return proceed(name);
      }
    }
    const { agent, model } = agentWith([
      calls(["change", "echo"]),
      calls(["fresh", "echo"]),
      text("ok"),
    ], { tools: [new Growing()] });
    await agent.run("go");
    const contents = agent.messages.filter((message) => message.role === "tool")
      .map((message) => message.content);
    assertEquals(contents.slice(0, 3), ["change", "echo", "fresh"]);
    assertStringIncludes(String(contents[3]), 'unknown tool \\"echo\\"');
    assertEquals(
      model.contexts.map((context) =>
        context.tools.map((tool) => tool.function.name)
      ),
      [
        ["echo", "change"],
        ["fresh"],
        ["fresh"],
      ],
    );
  },
);

test("no call of an answer that was cut off is executed", {
  case: ["X-184", "B17"],
}, async () => {
  for (const finishReason of ["length", "content_filter"]) {
    const { agent, sink } = agentWith([
      calls(["done"], { finishReason }),
      text("ok"),
    ], { tools: [done] });
    assertEquals((await agent.run("go")).output, "ok");
    const { result } = sink.ofKind("tool_completed")[0]!;
    assertEquals(result.control, "continue");
    assertStringIncludes(result.error ?? "", "cut off");
    assertStringIncludes(result.error ?? "", finishReason);
  }
});

test("the word of the provider is passed on", { case: "X-184" }, async () => {
  const cut = agentWith([text("so far", { finishReason: "length" })]);
  assertEquals((await cut.agent.run("go")).status, "completed");
  const completed: MessageCompleted | undefined =
    cut.sink.ofKind("message_completed")[0];
  assertEquals(completed?.finishReason, "length");
  const filtered = agentWith([text(null, { finishReason: "content_filter" })]);
  assertStringIncludes(
    (await filtered.agent.run("go")).error ?? "",
    "content_filter",
  );
});

test("a result tells an answer that was cut off from a whole one", async () => {
  const wordOf = async (...script: Parameters<typeof agentWith>[0]) => {
    const { agent } = agentWith(script, { tools: [done, echo] });
    const result = await agent.run("go");
    assertEquals(agent.state.lastRunResult?.finishReason, result.finishReason);
    return result.finishReason;
  };
  assertEquals(await wordOf(text("all of it")), "stop");
  assertEquals(
    await wordOf(text("so f", { finishReason: "length" })),
    "length",
  );
  assertEquals(await wordOf(text("so f", { finishReason: null })), null);
  assertEquals(await wordOf(calls(["done"])), "tool_calls");
  assertEquals(await wordOf(calls(["echo"]), text("ok")), "stop");
  assertEquals(await wordOf(fail(new Error("down"))), null);
});

test(
  "calls run whatever the finish word is",
  { case: ["X-184", "B26"] },
  async () => {
    const { agent } = agentWith([
      calls(["echo"], { finishReason: "stop" }),
      text("ok"),
    ], {
      tools: [echo],
    });
    await agent.run("go");
    assertEquals(toolResultsOf(agent.messages), [{ e: {} }]);
  },
);

test("the finish word tool_calls without calls is an empty answer", {
  case: ["X-184", "B27"],
}, async () => {
  const { agent, model } = agentWith([
    text(null, { finishReason: "tool_calls" }),
  ], {
    tools: [echo],
  });
  assertEquals((await agent.run("go")).stopReason, "empty_response");
  assertEquals(model.requests.length, 1);
});

test(
  "the control of a tool decides, not its payload",
  { case: "TL-31" },
  async () => {
    const tool = defineTool({
      name: "end",
      execute: () => complete({ status: "error" }),
    });
    const { agent } = agentWith([calls(["end"])], { tools: [tool] });
    const result = await agent.run("go");
    assertEquals([result.status, result.output], [
      "completed",
      '{"status":"error"}',
    ]);
    const empty = defineTool({ name: "end", execute: () => complete("") });
    assertEquals(
      (await agentWith([calls(["end"])], { tools: [empty] }).agent.run("go"))
        .output,
      "",
    );
  },
);
