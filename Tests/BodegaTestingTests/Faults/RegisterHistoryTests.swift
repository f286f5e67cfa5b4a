import TestSupport
import Testing

@Suite struct RegisterHistoryTests {

    private struct Failure: Error {}

    private let history = RegisterHistory()

    private func write(_ value: String?, throwing: Bool = false) async {
        await history.write(["a": value]) { if throwing { throw Failure() } }
    }

    private func read(_ value: String?) async {
        await history.read("a") { value }
    }

    @Test func `A read returns the last write`() async {
        await read(nil)
        await write("1")
        await read("1")
        await write(nil)
        await read(nil)
        #expect(history.violations() == [])
        #expect(history.count == 5 && history.thrownCount == 0)
    }

    @Test(arguments: ["1", "2"])
    func `A write that threw may or may not have taken effect`(value: String) async {
        await write("1")
        await write("2", throwing: true)
        await read(value)
        await read(value)
        #expect(history.violations() == [])
        #expect(history.thrownCount == 1)
    }

    @Test(arguments: ["1", "2"])
    func `Either of two concurrent writes may win, and be read before it ends`(winner: String) async {
        await history.write(["a": "1"]) {
            await write("2")
            await read("2")
        }
        await read(winner)
        #expect(history.violations() == [])
    }

    @Test func `A write that threw and is applied over a newer one is found`() async {
        await write("1")
        await write("2", throwing: true)
        await write("3")
        await read("2")
        #expect(history.violations().count == 1)
    }

    @Test func `A write that is applied after it threw is found`() async {
        await write("1")
        await write("2", throwing: true)
        await read("1")
        await read("2")
        #expect(history.violations().count == 1)
    }

    @Test func `A late write may take effect before the writer's next one, or not at all`() async {
        await write("1")
        await history.write(["a": "2"], by: 7, mayComeLate: { $0 is Failure }) { throw Failure() }
        await write("3")
        await read("3")
        await read("2")
        #expect(history.violations() == [])
        await history.write(["a": "4"], by: 7) {}
        await read("4")
        await read("2")
        #expect(history.violations().count == 1)
    }

    @Test func `A write that was lost is found`() async {
        await write("1")
        await write("2")
        await read("1")
        #expect(history.violations().count == 1)
    }

    @Test func `A write that threw, was read and then lost is found`() async {
        await write("1")
        await write("2", throwing: true)
        await read("2")
        await read("1")
        #expect(history.violations().count == 1)
    }

    @Test func `A lost removal is found, and a value that no writer has written`() async {
        await write("1")
        await write(nil)
        await read("1")
        #expect(history.violations().count == 1)
        await read("other")
        #expect(history.violations().count == 2)
    }

    @Test func `A read of nothing after a write that returned is found`() async {
        await write("1")
        await read(nil)
        #expect(history.violations().count == 1)
    }
}
