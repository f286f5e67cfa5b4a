import Bodega
import Foundation
import TestSupport
import Testing

/// A proxy between this test as the client and this test as the server.
@Suite struct FaultyProxyTests {

    /// The two ends of a connection through a proxy.
    private struct Line {
        let proxy: FaultyProxy
        let listener: Peer
        let client: Peer
        let server: Peer

        init() async throws {
            let (listener, port) = try Loopback.listen()
            self.listener = Peer(listener)
            proxy = try FaultyProxy(to: port)
            (client, server) = try await Self.connect(proxy, self.listener)
        }

        static func connect(_ proxy: FaultyProxy, _ listener: Peer) async throws -> (Peer, Peer) {
            let client = Peer(try Loopback.connect(to: proxy.port))
            return (client, try await listener.accept())
        }
    }

    @Test func `Bytes pass in both directions, and the end of a connection, too`() async throws {
        let line = try await Line()
        line.client.send("question")
        #expect(try await line.server.receive(8) == "question")
        line.server.send("answer")
        #expect(try await line.client.receive(6) == "answer")
        line.client.end()
        #expect(try await line.server.awaitEnd() == .end)
        line.server.end()
        #expect(try await line.client.awaitEnd() == .end)
        while line.proxy.connectionCount > 0 { await Task.yield() }
    }

    @Test func `A value larger than all buffers arrives whole`() async throws {
        let line = try await Line()
        let text = String((0..<1_000_000).map { "\($0)," }.joined())
        let sending = Task { try await line.client.sendAll(text) }
        #expect(try await line.server.receive(text.utf8.count) == text)
        try await sending.value
    }

    @Test func `A frozen connection delivers late, even if the sender has closed it, and new connections pass`()
        async throws
    {
        let line = try await Line()
        line.client.send("a")
        #expect(try await line.server.receive(1) == "a")
        line.proxy.freeze()
        line.client.send("late")
        line.client.end()
        let (client, server) = try await Line.connect(line.proxy, line.listener)
        client.send("new")
        #expect(try await server.receive(3) == "new")
        // The bytes of the new connection arrived after it.
        #expect(line.server.available() == "")
        line.proxy.thaw()
        #expect(try await line.server.receive(4) == "late")
        #expect(try await line.server.awaitEnd() == .end)
    }

    @Test func `One direction alone is frozen`() async throws {
        let line = try await Line()
        line.proxy.freeze(.toClient)
        line.server.send("answer")
        line.client.send("question")
        #expect(try await line.server.receive(8) == "question")
        #expect(line.client.available() == "")
        line.proxy.thaw()
        #expect(try await line.client.receive(6) == "answer")
    }

    @Test func `In a partition new connections are frozen, too`() async throws {
        let line = try await Line()
        line.proxy.partition()
        let (client, server) = try await Line.connect(line.proxy, line.listener)
        client.send("late")
        line.proxy.thaw()
        #expect(try await server.receive(4) == "late")
        line.proxy.partition(.toClient)
        let (other, otherServer) = try await Line.connect(line.proxy, line.listener)
        other.send("question")
        #expect(try await otherServer.receive(8) == "question")
        otherServer.send("answer")
        line.client.send("question")
        #expect(try await line.server.receive(8) == "question")
        #expect(other.available() == "")
    }

    @Test(arguments: FaultyProxy.Cut.allCases)
    func `A cut ends both sides in its way`(cut: FaultyProxy.Cut) async throws {
        let line = try await Line()
        line.proxy.freeze()
        line.client.send("lost")
        line.proxy.cut(cut)
        let ending = try await line.client.awaitEnd()
        // A socket that is closed with unread bytes always sends a reset.
        #expect(cut == .reset ? ending == .reset : [.end, .reset].contains(ending))
        #expect(try await line.server.awaitEnd() == cut)
        #expect(line.proxy.connectionCount == 0)
    }

    @Test func `Delayed bytes arrive no earlier than their delay, and in order`() async throws {
        let line = try await Line()
        line.proxy.delay(by: .milliseconds(100))
        let began = ContinuousClock.now
        line.client.send("first")
        line.client.send("second")
        #expect(try await line.server.receive(11) == "firstsecond")
        #expect(ContinuousClock.now - began >= .milliseconds(100))
    }

    @Test func `A response is lost when the test says so`() async throws {
        let line = try await Line()
        let wasHeld = Locked(false)
        line.proxy.loseAnswer(where: { $0 == Data("done".utf8) }) { wasHeld.withLock { $0 = true } }
        line.server.send("begun")
        #expect(try await line.client.receive(5) == "begun")
        #expect(!line.proxy.hasLostAnswer)
        line.server.send("done")
        _ = try await line.client.awaitEnd()
        #expect(wasHeld.withLock { $0 } && line.proxy.hasLostAnswer)
        #expect(line.client.available() == "")
    }

    @Test func `A client of a missing server gets an error`() async throws {
        let (listener, port) = try Loopback.listen()
        let proxy = try FaultyProxy(to: port)
        Peer(listener).end()
        _ = try await Peer(Loopback.connect(to: proxy.port)).awaitEnd()
    }
}
