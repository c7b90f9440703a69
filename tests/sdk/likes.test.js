import assert from "node:assert/strict";
import test from "node:test";
import { LikeBook } from "../../static/sdk/likes.js";

test("a like shows at once and stays when the server has it", () => {
  const book = new LikeBook();
  book.told(false);
  book.want(true);
  assert.deepEqual([book.liked, book.take(), book.take()], [true, true, null]);
  book.told(true, true);
  assert.deepEqual([book.liked, book.take()], [true, null]);
});

test("a change of mind while the first is under way is sent after it, and only the last one", () => {
  const book = new LikeBook();
  book.want(true);
  assert.equal(book.take(), true);
  book.want(false);
  book.want(true);
  book.want(false);
  assert.deepEqual([book.liked, book.take()], [false, null]);
  book.told(true, true);
  assert.deepEqual([book.liked, book.take()], [false, false]);
});

test("what a cut left unanswered goes again, unless the server turns out to have it", () => {
  const book = new LikeBook();
  book.want(true);
  book.take();
  book.cut();
  book.told(false);
  assert.deepEqual([book.liked, book.take()], [true, true]);
  book.cut();
  book.told(true);
  assert.deepEqual([book.liked, book.take()], [true, null]);
});

test("a refusal for good turns it back, one for now does not", () => {
  const book = new LikeBook();
  book.want(true);
  book.take();
  book.refused(true);
  assert.deepEqual([book.liked, book.take()], [true, true]);
  book.refused(false);
  assert.deepEqual([book.liked, book.take()], [false, null]);
});
