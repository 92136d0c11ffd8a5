"""Tests against a real server: UNITASK_BASE_URL and UNITASK_API_KEY, a test key."""

import asyncio
import base64
import functools
import hashlib
import io
import os
import sys
import tempfile
import time
import unittest
from datetime import datetime, timedelta, timezone
from unittest import mock

from unitask import (
    APIError,
    AsyncUnitask,
    ConnectionLost,
    InvalidSignature,
    TaskCanceled,
    TaskFailed,
    Unitask,
    WaitTimeout,
    _client,
    webhooks,
)

from proxy import Proxy

BASE = os.environ["UNITASK_BASE_URL"]


@functools.cache
def fox():
    """An artifact of a task."""
    with Unitask() as client:
        return client.image_generate({"prompt": "a fox"}, {"size": "512x512"}).output["images"][0]


class Calls(unittest.TestCase):
    def setUp(self):
        self.client = Unitask()
        self.addCleanup(self.client.close)

    def test_chat(self):
        task = self.client.text_chat({"prompt": "Say hello"}, {"max_output_tokens": 50}, metadata={"team": "search"})
        self.assertEqual(task.state, "succeeded")
        self.assertTrue(task.done)
        self.assertIn("sandbox", task.output["text"])
        self.assertEqual(task.metadata, {"team": "search"})
        self.assertEqual(task.cost, "0")
        self.assertTrue(task.request_id.startswith("req_"))
        again = self.client.get(task.id)
        self.assertEqual(again.output, task.output)

    def test_image_is_downloaded(self):
        image = fox()
        data = self.client.download(image)
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "fox.png")
            self.assertIsNone(self.client.download(image, path))
            with open(path, "rb") as f:
                self.assertEqual(f.read(), data)
            self.assertEqual(os.listdir(folder), ["fox.png"])

    def test_other_bytes_are_no_artifact(self):
        image = dict(fox())
        image["sha256"] = hashlib.sha256(b"").hexdigest()
        with self.assertRaises(Exception) as caught, tempfile.TemporaryDirectory() as folder:
            try:
                self.client.download(image, os.path.join(folder, "fox.png"))
            finally:
                self.assertEqual(os.listdir(folder), [])
        self.assertIn("other bytes", str(caught.exception))

    def test_media_within_a_request(self):
        image = fox()
        task = self.client.text_chat(
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "What is it?"},
                            {"type": "image", "image": self.client.media(self.client.download(image), "image/png")},
                            {"type": "image", "image": {"artifact": image["id"]}},
                        ],
                    }
                ]
            }
        )
        self.assertEqual(task.state, "succeeded")

    def test_the_kind_of_media_must_be_known(self):
        with self.assertRaises(ValueError):
            self.client.media(b"x")
        with tempfile.NamedTemporaryFile(suffix=".png") as f:
            f.write(b"\x89PNG")
            f.flush()
            self.assertEqual(self.client.media(f.name), {"data": base64.b64encode(b"\x89PNG").decode(), "content_type": "image/png"})
            self.assertEqual(self.client.media(f, "image/webp")["content_type"], "image/webp")

    def test_refusal(self):
        with self.assertRaises(APIError) as caught:
            self.client.run("text.chat", {"prompt": 5})
        e = caught.exception
        self.assertEqual((e.code, e.status, e.retryable), ("INVALID_REQUEST", 400, False))
        self.assertEqual(e.details[0]["field"], "input.prompt")
        self.assertTrue(e.request_id.startswith("req_"))
        self.assertEqual(len(e.idempotency_key), 32)

    def test_wrong_key(self):
        with Unitask(api_key="svc_test_no") as client, self.assertRaises(APIError) as caught:
            client.capabilities()
        self.assertEqual(caught.exception.code, "UNAUTHENTICATED")

    def test_another_server(self):
        with Unitask(BASE + "/elsewhere") as client, self.assertRaises(APIError) as caught:
            client.capabilities()
        self.assertEqual(caught.exception.status, 404)

    def test_failure(self):
        with self.assertRaises(TaskFailed) as caught:
            self.client.run("text.chat", {"prompt": "@fail:CONTENT_POLICY_VIOLATION"})
        self.assertEqual(caught.exception.code, "CONTENT_POLICY_VIOLATION")
        self.assertEqual(self.client.get(caught.exception.task_id).state, "failed")
        with self.assertRaises(TaskFailed):
            self.client.run("image.generate", {"prompt": "@fail:CONTENT_POLICY_VIOLATION"})
        with self.assertRaises(TaskFailed):
            self.client.wait(caught.exception.task_id)

    def test_the_same_key_is_the_same_task(self):
        one = self.client.run("text.chat", {"prompt": "hello"}, idempotency_key="same-key-1")
        self.assertEqual(self.client.run("text.chat", {"prompt": "hello"}, idempotency_key="same-key-1").id, one.id)
        with self.assertRaises(APIError) as caught:
            self.client.run("text.chat", {"prompt": "other"}, idempotency_key="same-key-1")
        self.assertEqual(caught.exception.code, "IDEMPOTENCY_CONFLICT")

    def test_slow_task(self):
        task = self.client.submit("image.generate", {"prompt": "@slow:3s a fox"}, {"size": "64x64"})
        self.assertFalse(task.done)
        with self.assertRaises(WaitTimeout) as caught:
            self.client.wait(task.id, timeout=0.1)
        self.assertEqual(caught.exception.task_id, task.id)
        self.assertEqual(self.client.wait(task.id).state, "succeeded")

    def test_cancel(self):
        task = self.client.submit("image.generate", {"prompt": "@slow:10m a fox"})
        self.client.cancel(task.id)
        with self.assertRaises(TaskCanceled):
            self.client.wait(task.id)

    def test_list(self):
        made = {self.client.run("text.embed", {"texts": [str(i)]}, metadata={"list": "here"}).id for i in range(3)}
        got = [task.id for task in self.client.list(metadata={"list": "here"})]
        self.assertEqual((set(got), len(got)), (made, 3))
        self.assertEqual(list(self.client.list(metadata={"list": "here"}, state="failed")), [])
        self.assertEqual({t.capability for t in self.client.list(capability="text.embed")}, {"text.embed"})

    def test_list_by_its_filters(self):
        here = {"list": "filters"}
        made = [self.client.run("text.embed", {"texts": [str(i)]}, metadata=here).id for i in range(2)]
        with self.assertRaises(TaskFailed) as failed:
            self.client.run("text.chat", {"prompt": "@fail:CONTENT_POLICY_VIOLATION"}, metadata=here)
        made.append(failed.exception.task_id)

        def found(**query):
            return [task.id for task in self.client.list(metadata=here, **query)]

        self.assertEqual(found(), made[::-1])
        self.assertEqual(found(order="oldest"), made)
        self.assertEqual(found(code="CONTENT_POLICY_VIOLATION"), made[2:])
        self.assertEqual(found(key="key_" + "0" * 26), [])
        now, hour = datetime.now(timezone.utc), timedelta(hours=1)
        self.assertEqual(found(created_before=now - hour), [])
        self.assertEqual(found(created_after=(now - hour).isoformat(), created_before=now + hour), made[::-1])
        with self.assertRaises(ValueError):
            found(created_after=datetime.now())

    def test_uploads_are_listed_and_deleted(self):
        sent = {self.client.upload(_wav(1000 + n), "audio/wav") for n in range(2)}
        listed = {u["artifact"]: u["state"] for u in self.client.uploads()}
        self.assertEqual({listed[id] for id in sent}, {"complete"})
        for id in sent:
            self.client.delete_upload(id)
        self.assertFalse(sent & {u["artifact"] for u in self.client.uploads()})
        with self.assertRaises(APIError) as gone:
            self.client.delete_upload(sent.pop())
        self.assertEqual(gone.exception.status, 404)

    def test_capabilities(self):
        names = [c["name"] for c in self.client.capabilities()]
        self.assertEqual(names, sorted(names))
        self.assertIn("text.chat", names)

    def test_stream(self):
        stream = self.client.stream("text.chat", {"prompt": "repeat one two three"})
        pieces = [delta.text for delta in stream]
        self.assertGreater(len(pieces), 1)
        self.assertEqual("".join(pieces), stream.task.output["text"])

    def test_stream_of_a_refusal(self):
        with self.assertRaises(APIError):
            list(self.client.stream("text.chat", {}))
        with self.assertRaises(TaskFailed):
            self.client.stream("text.chat", {"prompt": "@fail:CONTENT_POLICY_VIOLATION"}).task

    def test_stream_of_a_picture(self):
        self.assertEqual(self.client.stream("image.generate", {"prompt": "a fox"}, {"size": "64x64"}).task.state, "succeeded")


class Faults(unittest.TestCase):
    """A network that loses requests and answers: one task each, and the right bytes."""

    def through(self, *fates, **options):
        proxy = Proxy(BASE, list(fates))
        self.addCleanup(proxy.close)
        client = Unitask(proxy.url, **options)
        self.addCleanup(client.close)
        return client, proxy

    def count(self, name):
        with Unitask() as client:
            return len(list(client.list(metadata={"test": name})))

    def test_a_lost_answer_makes_no_second_task(self):
        client, proxy = self.through("lose", "refuse", "lose", "pass")
        task = client.run("text.chat", {"prompt": "hello"}, metadata={"test": "lost"})
        self.assertEqual((task.state, self.count("lost")), ("succeeded", 1))
        self.assertEqual(proxy.connections, 4)

    def test_a_deletion_whose_answer_is_lost(self):
        with Unitask() as direct:
            sent = direct.upload(_wav(1000), "audio/wav")
        client, proxy = self.through("lose")
        client.delete_upload(sent)
        self.assertEqual(proxy.connections, 2)

    def test_no_answer_at_all(self):
        client, _ = self.through(*["refuse"] * 9, max_retries=1)
        with self.assertRaises(ConnectionLost) as caught:
            client.run("text.chat", {"prompt": "hello"})
        self.assertEqual(len(caught.exception.idempotency_key), 32)

    def test_a_kept_connection_that_was_closed_is_no_failure(self):
        client, proxy = self.through("pass", "pass", max_retries=0)
        client.capabilities()
        proxy.cut()
        client.capabilities()
        self.assertEqual(proxy.connections, 2)

    def test_a_cut_stream_is_followed(self):
        client, _ = self.through("cut:1500", "pass", "pass", "pass")
        stream = client.stream("text.chat", {"prompt": "repeat " + "word " * 200}, metadata={"test": "stream"})
        pieces = [delta.text for delta in stream]
        self.assertEqual((stream.task.state, self.count("stream")), ("succeeded", 1))
        self.assertTrue(stream.task.output["text"].startswith("".join(pieces)))

    def test_a_cut_download_goes_on(self):
        with Unitask() as direct:
            image = dict(fox())
            whole = direct.download(image)
        client, proxy = self.through("cut:2000", "cut:1000", "pass")
        image["url"] = image["url"].replace(BASE, proxy.url)
        self.assertEqual(client.download(image), whole)
        self.assertEqual(proxy.connections, 3)

    def test_a_cut_upload_goes_on(self):
        wav = _wav(3 << 20)
        client, proxy = self.through("pass", "cut-sent:1500000", "lose", "pass")
        signed = _client._signed
        with mock.patch.object(_client, "_PIECE", 1 << 20), mock.patch.object(_client, "_signed", lambda url: signed(url.replace(BASE, proxy.url))):
            id = client.upload(wav, "audio/wav")
        self.assertEqual(proxy.connections, 4)
        with Unitask() as direct:
            self.assertEqual(direct.upload(io.BytesIO(wav), "audio/wav"), id)  # it is there: nothing is sent again
            self.assertEqual(direct.media(wav, "audio/wav"), {"artifact": id})
            self.assertEqual(direct.audio_transcribe({"audio": {"artifact": id}}).state, "succeeded")

    def test_a_damaged_part_is_sent_again_alone(self):
        client, proxy = self.through("pass", "flip:2500000", "pass")
        signed, put, begins = _client._signed, Unitask._put, []

        def counted(self, transport, address, file, begin, cut, stop):
            begins.append(begin)
            return put(self, transport, address, file, begin, cut, stop)

        with (
            mock.patch.object(_client, "_PIECE", 1 << 20),
            mock.patch.object(_client, "_signed", lambda url: signed(url.replace(BASE, proxy.url))),
            mock.patch.object(Unitask, "_put", counted),
        ):
            client.upload(_wav(3 << 20), "audio/wav")
        self.assertEqual(begins, [0, 1 << 20, 2 << 20, 2 << 20])

    def test_an_upload_that_is_refused(self):
        with Unitask() as client, self.assertRaises(APIError) as caught:
            client.upload(b"no picture", "image/png")
        self.assertEqual(caught.exception.code, "INVALID_REQUEST")

    def test_a_timeout_is_lost_and_the_task_is_one(self):
        client, _ = self.through("hang", "pass", timeout=0.3)
        task = client.submit("text.chat", {"prompt": "hello"}, metadata={"test": "hang"})
        self.assertEqual(self.count("hang"), 1)
        self.assertEqual(client.wait(task.id).state, "succeeded")


def _wav(size):
    """A silent recording of so many bytes."""
    rate, samples = 16000, size - 44
    head = b"RIFF" + (size - 8).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    head += (1).to_bytes(2, "little") * 2 + rate.to_bytes(4, "little") + rate.to_bytes(4, "little")
    head += (1).to_bytes(2, "little") + (8).to_bytes(2, "little") + b"data" + samples.to_bytes(4, "little")
    return head + os.urandom(8) + bytes([128]) * (samples - 8)


class Async(unittest.IsolatedAsyncioTestCase):
    async def test_all(self):
        async with AsyncUnitask() as client:
            tasks = await asyncio.gather(*(client.text_chat({"prompt": f"hello {i}"}, metadata={"test": "async"}) for i in range(5)))
            self.assertEqual({t.state for t in tasks}, {"succeeded"})
            self.assertEqual({t.id async for t in client.list(metadata={"test": "async"})}, {t.id for t in tasks})
            stream = client.stream("text.chat", {"prompt": "repeat one two three"})
            text = "".join([delta.text async for delta in stream])
            self.assertEqual(text, (await stream.task()).output["text"])
            self.assertTrue((await client.download(fox())).startswith(b"\x89PNG"))

    async def test_canceling_ends_the_call(self):
        async with AsyncUnitask() as client:
            slow = asyncio.create_task(client.run("image.generate", {"prompt": "@slow:10m a fox"}, metadata={"test": "canceled"}))
            made = []
            while not made:
                await asyncio.sleep(0.05)
                made = [t async for t in client.list(metadata={"test": "canceled"})]
            slow.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await slow
            deadline = time.monotonic() + 20  # the service would hold the answer for a minute
            while _waits() and time.monotonic() < deadline:
                await asyncio.sleep(0.02)
            waits = _waits()
            await client.cancel(made[0].id)
            self.assertFalse(waits)


def _waits():
    """Whether a thread is still in Unitask.run."""
    for frame in sys._current_frames().values():
        while frame:
            if frame.f_code is Unitask.run.__code__:
                return True
            frame = frame.f_back
    return False


class Webhooks(unittest.TestCase):
    # The example of Standard Webhooks' own libraries.
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    headers = {
        "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "Webhook-Timestamp": "1614265330",
        "Webhook-Signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }

    def test_known_signature(self):
        self.assertEqual(webhooks.verify(self.secret, self.headers, self.body, now=1614265330 + 299), {"test": 2432232314})
        two = {**self.headers, "Webhook-Signature": "v1,AAAA v2,BBBB " + self.headers["Webhook-Signature"]}
        self.assertEqual(webhooks.verify(["whsec_AAAA", self.secret], two, self.body, now=1614265330), {"test": 2432232314})

    def test_refused(self):
        for change, headers, body, now in (
            ("body", {}, self.body + b" ", 0),
            ("id", {"Webhook-Id": "msg_other"}, self.body, 0),
            ("signature", {"Webhook-Signature": "v1,"}, self.body, 0),
            ("no signature", {"Webhook-Signature": ""}, self.body, 0),
            ("time", {"Webhook-Timestamp": "-1"}, self.body, 0),
            ("late", {}, self.body, 301),
            ("early", {}, self.body, -301),
        ):
            with self.subTest(change), self.assertRaises(InvalidSignature):
                webhooks.verify(self.secret, {**self.headers, **headers}, body, now=1614265330 + now)
        with self.assertRaises(InvalidSignature):
            webhooks.verify("whsec_AAAA", self.headers, self.body, now=1614265330)


if __name__ == "__main__":
    unittest.main()
