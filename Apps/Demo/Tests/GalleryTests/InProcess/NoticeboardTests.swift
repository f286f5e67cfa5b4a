import Testing

@testable import Gallery

/// The time for which a notice is shown.
@MainActor
@Suite
struct NoticeboardTests {

    /// Pauses that the test ends.
    private actor Pauses {
        private var waiting: [(duration: Duration, end: CheckedContinuation<Void, Never>)] = []

        func pause(_ duration: Duration) async {
            await withCheckedContinuation { waiting.append((duration, $0)) }
        }

        /// Ends a pause, once it has begun.
        func end(_ duration: Duration) async {
            while true {
                if let index = waiting.firstIndex(where: { $0.duration == duration }) {
                    return waiting.remove(at: index).end.resume()
                }
                await Task.yield()
            }
        }
    }

    private let pauses = Pauses()

    private func noticeboard() -> Noticeboard {
        Noticeboard(time: .seconds(8)) { [pauses] in await pauses.pause($0) }
    }

    @Test func `A notice disappears after its time, one with an undo later, and an error last`() async {
        let noticeboard = noticeboard()
        for (isError, offersUndo, seconds) in [(false, false, 8), (false, true, 32), (true, false, 64)] {
            noticeboard.show("Look!", isError: isError, offersUndo: offersUndo)
            #expect(noticeboard.notice?.text == "Look!")
            await pauses.end(.seconds(seconds))
            while noticeboard.notice != nil { await Task.yield() }
        }
    }

    @Test func `The end of a replaced notice's time does not remove its replacement`() async {
        let noticeboard = noticeboard()
        noticeboard.show("First")
        noticeboard.show("Second", offersUndo: true)
        await pauses.end(.seconds(8))
        for _ in 0..<1000 { await Task.yield() }
        #expect(noticeboard.notice?.text == "Second")
        await pauses.end(.seconds(32))
        while noticeboard.notice != nil { await Task.yield() }
    }

    @Test func `Open pages are notified when a notice disappears`() async {
        let noticeboard = noticeboard()
        var changes = noticeboard.changes.events.makeAsyncIterator()
        _ = await changes.next()
        noticeboard.show("Look!")
        _ = await changes.next()
        await pauses.end(.seconds(8))
        _ = await changes.next()
        #expect(noticeboard.notice == nil)
    }
}
