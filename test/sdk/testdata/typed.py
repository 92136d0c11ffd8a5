"""What the types of the Python library take and refuse: each line that ends in "refused" is one error of the checker."""

from typing import assert_type

from unitask import AsyncUnitask, Task, Unitask, types

client = Unitask()

chat = client.text_chat({"prompt": "hello"}, {"max_output_tokens": 5}, metadata={"a": "b"}, timeout=5)
assert_type(chat, Task[types.TextChatOutput])
assert_type(chat.output["text"], str)
image = client.image_generate({"prompt": "a fox"}, {"size": "64x64", "format": "png"}).output["images"][0]
assert_type(image["bytes"], int)
client.download(image)
client.text_chat({"messages": [{"role": "user", "content": [{"type": "image", "image": {"artifact": image["id"]}}]}]})
other: Task[types.TextRerankOutput] = client.run("text.rerank.fast", {"query": "a", "documents": ["b"]})

client.text_chat({"prompt": 5})  # refused
client.text_chat({"promt": "hello"})  # refused
client.text_chat({"prompt": "hello"}, {"max_tokens": 5})  # refused
client.text_chat({"prompt": "hello"}, metdata={})  # refused
client.image_generate({"prompt": "a fox"}, {"format": "gif"})  # refused
chat.output["txt"]  # refused


async def later() -> None:
    there = AsyncUnitask()
    assert_type(await there.text_embed({"texts": ["a"]}), Task[types.TextEmbedOutput])
    assert_type([delta.text async for delta in there.stream("text.chat", {"prompt": "hello"})], list[str])
