import Testing

@testable import Gallery

/// How long a notice stays.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct NoticeboardTests {

    /// Pauses that end when the test wants it.
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

    @Test func `A notice leaves when its time is over, what can be undone later, an error last`() async {
        let noticeboard = noticeboard()
        for (isError, offersUndo, seconds) in [(false, false, 8), (false, true, 32), (true, false, 64)] {
            noticeboard.show("Look!", isError: isError, offersUndo: offersUndo)
            #expect(noticeboard.notice?.text == "Look!")
            await pauses.end(.seconds(seconds))
            while noticeboard.notice != nil { await Task.yield() }
        }
    }

    @Test func `The time of a notice that another one has replaced does not take that away`() async {
        let noticeboard = noticeboard()
        noticeboard.show("First")
        noticeboard.show("Second", offersUndo: true)
        await pauses.end(.seconds(8))
        for _ in 0..<1000 { await Task.yield() }
        #expect(noticeboard.notice?.text == "Second")
        await pauses.end(.seconds(32))
        while noticeboard.notice != nil { await Task.yield() }
    }

    @Test func `That a notice has left is told to the pages that are open`() async {
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
