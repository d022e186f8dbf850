import {
  type Context,
  context,
  propagation,
  SpanKind,
  type TextMapPropagator,
  trace,
} from "@opentelemetry/api";
import { Agent, type Middleware, RunScope } from "../../mod.ts";
import { calls, ScriptedModel, text } from "../../src/testing/mod.ts";
import { traceHeaders } from "../../src/telemetry/mod.ts";
import { remote, serve } from "../a2a/fixtures.ts";
import { echo } from "../agent/fixtures.ts";
import { assertEquals } from "../support/assert.ts";
import { runtimesWith } from "../support/runtime.ts";
import { test } from "../support/suite.ts";
import { recorder } from "./recorder.ts";

/** Notes which span is active where code of a layer runs. */
function watching(seen: string[]): Middleware {
  return {
    async *aroundModel(_request, next) {
      seen.push(`model: ${activeName()}`);
      return yield* next();
    },
    async aroundTool(_context, next) {
      await Promise.resolve();
      seen.push(`tool: ${activeName()}`);
      return await next();
    },
  };
}

function activeName(): string {
  const active = trace.getActiveSpan() as { name?: string } | undefined;
  return active?.name ?? "none";
}

test(
  "with a context manager the work runs inside its span, the reader does not",
  {
    runtimes: runtimesWith("processes"),
  },
  async () => {
    const { AsyncLocalStorageContextManager } = await import(
      "@opentelemetry/context-async-hooks"
    );
    context.setGlobalContextManager(
      new AsyncLocalStorageContextManager().enable(),
    );
    const one = recorder();
    try {
      const seen: string[] = [];
      const agent = new Agent({
        agentId: "a",
        tools: [echo],
        model: new ScriptedModel([calls(["echo"]), text("done")]),
        middleware: [one.middleware, watching(seen)],
      });
      for await (const event of agent.stream("t")) {
        if (event.kind === "message_completed") {
          assertEquals(activeName(), "none");
        }
      }
      assertEquals(seen, [
        "model: chat",
        "tool: execute_tool echo",
        "model: chat",
      ]);
    } finally {
      context.disable();
      await one.shutdown();
    }
  },
);

test("the span that is active outside is the parent of a run", {
  runtimes: runtimesWith("processes"),
}, async () => {
  const { AsyncLocalStorageContextManager } = await import(
    "@opentelemetry/context-async-hooks"
  );
  context.setGlobalContextManager(
    new AsyncLocalStorageContextManager().enable(),
  );
  const one = recorder();
  try {
    const agent = new Agent({
      agentId: "a",
      model: new ScriptedModel([text("done")]),
      middleware: [one.middleware],
    });
    const spanContext = {
      traceId: "0123456789abcdef0123456789abcdef",
      spanId: "0123456789abcdef",
      traceFlags: 1,
    };
    const outside = trace.setSpanContext(context.active(), spanContext);
    await context.with(outside, () => agent.run("t"));
    assertEquals(
      one.span("invoke_agent a").parentSpanContext?.spanId,
      spanContext.spanId,
    );
  } finally {
    context.disable();
    await one.shutdown();
  }
});

test("headers carry the span of a run to a remote agent", async () => {
  const named: TextMapPropagator = {
    inject(at: Context, carrier, setter) {
      const id = trace.getSpanContext(at)?.spanId;
      if (id !== undefined) setter.set(carrier, "traceparent", id);
    },
    extract: (at) => at,
    fields: () => ["traceparent"],
  };
  propagation.setGlobalPropagator(named);
  const one = recorder();
  try {
    const { agent, calls } = remote(serve([text("done")]).handler, {
      name: "Far away",
      headers: ({ scope }) => traceHeaders(scope),
    });
    await agent.use(one.middleware).run("t");
    const span = one.span("invoke_agent Far away");
    assertEquals(
      calls.map(({ headers }) => headers.get("traceparent")),
      [span.spanContext().spanId],
    );
    assertEquals(
      [span.kind, span.attributes["gen_ai.provider.name"]],
      [SpanKind.CLIENT, "a2a"],
    );
    assertEquals(traceHeaders(new RunScope()), {});
  } finally {
    propagation.disable();
    await one.shutdown();
  }
});
