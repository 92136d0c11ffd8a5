# An agent's loop: the model calls functions of this program until it has an answer. Python 3, without packages.
import json, os, sys, time, urllib.error, urllib.request, uuid

BASE = os.environ.get("UNITASK_BASE_URL", "http://127.0.0.1:8420")
KEY = os.environ["UNITASK_API_KEY"]


def find_town(name):
    return {"town": name, "country": "Sweden"}


def get_weather(town):
    return {"town": town, "sky": "rain", "degrees": 12}


def text(description):
    return {"type": "object", "properties": {description: {"type": "string"}}, "required": [description]}


FUNCTIONS = {"find_town": find_town, "get_weather": get_weather}
TOOLS = [
    {"name": "find_town", "description": "Finds a town.", "parameters": text("name")},
    {"name": "get_weather", "description": "Tells the weather of a town.", "parameters": text("town")},
]


def send(method, path, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, {"Authorization": "Bearer " + KEY, **headers}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer), 0
    except urllib.error.HTTPError as refused:
        error = json.load(refused)["error"]
        if not error["retryable"]:
            sys.exit(f"{error['code']}: {error['message']}")
        return None, error["retry_after_seconds"]


def ask(messages):
    """One turn is one task. Its key is made once, so that a request that is sent again costs nothing more."""
    body = {"capability": "text.chat", "input": {"messages": messages}, "parameters": {"tools": TOOLS, "reasoning": "low", "max_output_tokens": 4000}}
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
    task, pause = send("POST", "/api/ai/v1/tasks", body, headers)
    for _ in range(4):
        if task is not None:
            break
        time.sleep(pause)
        task, pause = send("POST", "/api/ai/v1/tasks", body, headers)
    while task is not None and task["output"] is None and task["error"] is None:
        time.sleep(2)
        task, pause = send("GET", "/api/ai/v1/tasks/" + task["id"])
    if task is None or task["output"] is None:
        sys.exit("no answer")
    return task["output"]


def call(one):
    """A call that doesn't fit its tool goes back to the model, which may do better."""
    if one.get("invalid"):
        return "These arguments don't fit the tool."
    return json.dumps(FUNCTIONS[one["name"]](**one["arguments"]))


messages = [{"role": "user", "content": " ".join(sys.argv[1:])}]
for _ in range(10):
    output = ask(messages)
    if output["finish_reason"] != "tool_calls":
        print(output["text"])
        break
    said = {"role": "assistant", "content": output["text"], "tool_calls": output["tool_calls"]}
    if "state" in output:
        said["state"] = output["state"]
    messages.append(said)
    for one in output["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": one["id"], "content": call(one)})
