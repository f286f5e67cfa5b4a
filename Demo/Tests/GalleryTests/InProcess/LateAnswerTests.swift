import Boutique
import Testing

@testable import Gallery

/// What the API answers when something newer has happened.
@Suite(.timeLimit(.minutes(10)))
struct LateAnswerTests {
    private let gallery = TestGallery()

    /// Asks for another picture, and does something before the API answers.
    private func showAnother(
        _ prepare: @escaping @MainActor @Sendable (GalleryControllers) throws -> Void = { _ in },
        meanwhile: @escaping @MainActor @Sendable (GalleryControllers) throws -> Void,
        _ check: @escaping @MainActor @Sendable (GalleryControllers) async throws -> Void
    ) async throws {
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let (answered, answer) = AsyncStream<Void>.makeStream()
        var api = StubAPI()
        api.unknownToken = former.token
        api.beforeAnswer = {
            ask.finish()
            for await _ in answered {}
        }
        try await gallery.run(api) { _, controllers in
            try await prepare(controllers)
            async let another: Void = GalleryActions(controllers: controllers).showAnother()
            for await _ in asked {}
            try await meanwhile(controllers)
            answer.finish()
            await another
            try await check(controllers)
        }
    }

    private let former = Session(name: "Ada", token: "former")
    private let newer = Session(name: "Grace", token: "newer")

    @Test func `What is said while a picture is on its way stays`() async throws {
        try await showAnother {
            $0.noticeboard.show("This was before.")
        } meanwhile: {
            #expect($0.noticeboard.notice == nil)
            $0.noticeboard.show("It was removed.", offersUndo: true)
        } _: {
            #expect($0.easel.exhibit != nil)
            #expect($0.noticeboard.notice?.text == "It was removed.")
        }
    }

    @Test func `A session that the API does not know is forgotten`() async throws {
        try await showAnother { [former] in
            try $0.account.$session.set(former)
        } meanwhile: { _ in
        } _: {
            #expect($0.account.session == nil)
            #expect($0.noticeboard.notice?.text == "The API does not know you any more. Sign in again, please.")
        }
    }

    @Test func `Who has signed in meanwhile stays signed in`() async throws {
        try await showAnother { [former] in
            try $0.account.$session.set(former)
        } meanwhile: { [newer] in
            try $0.account.$session.set(newer)
        } _: { [newer] in
            #expect($0.account.session == newer)
            #expect($0.noticeboard.notice == nil)
        }
    }

    /// Somebody else who asks.
    @MainActor
    private final class Other {
        var task: Task<Void, Never>?
    }

    @Test func `Who has signed in meanwhile and asks, too, stays signed in and gets a picture`() async throws {
        let other = await Other()
        try await showAnother { [former] in
            try $0.account.$session.set(former)
        } meanwhile: { [newer] controllers in
            try controllers.account.$session.set(newer)
            other.task = Task { await GalleryActions(controllers: controllers).showAnother() }
        } _: { [newer] in
            await other.task?.value
            #expect($0.account.session == newer)
            #expect($0.easel.exhibit != nil)
        }
    }

    @MainActor
    @Test func `Whether the API is there is what the latest request has shown`() async {
        let availability = Availability()
        let (answered, answer) = AsyncStream<Void>.makeStream()
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let older = Task {
            await availability.look(ifNotFor: .zero) { () throws(PictureAPIError) in
                ask.finish()
                for await _ in answered {}
            }
        }
        for await _ in asked {}
        await availability.look(ifNotFor: .zero) { () throws(PictureAPIError) in throw .unreachable }
        answer.finish()
        await older.value
        #expect(!availability.isOnline)
    }
}
