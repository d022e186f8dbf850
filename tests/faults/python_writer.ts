/**
 * A writer in Python that knows the files and nothing of this package:
 * `python3 -c SCRIPT JOURNAL LABEL COUNT` appends so many messages to the open
 * run, each on the head it has seen.
 */
export const pythonWriter: string = String.raw`
import fcntl, json, os, sys, time, uuid

journal, label, count = sys.argv[1], sys.argv[2], int(sys.argv[3])

def committed():
    with open(journal, "rb") as file:
        data = file.read()
    end = data.rfind(b"\n") + 1
    return [json.loads(line) for line in data[:end].splitlines()], end

def append(expected, content):
    lock = os.open(journal + ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.01)
        records, end = committed()
        head = records[-1]
        if head["record_id"] != expected:
            return False
        record = {
            "journal_schema_version": 1,
            "record_id": uuid.uuid4().hex,
            "parent_id": head["record_id"],
            "branch_id": "main",
            "revision": len(records) + 1,
            "session_id": head["session_id"],
            "agent_id": head["agent_id"],
            "sequence": 2,
            "type": "message_appended",
            "data": {
                "run_id": records[0]["data"]["run_id"],
                "message": {"role": "assistant", "content": content},
            },
        }
        line = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        with open(journal, "r+b") as file:
            file.truncate(end)
            file.seek(end)
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return True
    finally:
        os.close(lock)

for number in range(count):
    while not append(committed()[0][-1]["record_id"], f"{label} {number}"):
        pass
`;
