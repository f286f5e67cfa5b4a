import Boutique
import Testing

@testable import Gallery

/// Responses of the API that arrive after a newer event.
@Suite
struct LateAnswerTests {
    private let gallery = TestGallery()

    /// Requests another picture, and runs a body before the API responds.
    private func showAnother(
        _ prepare: @escaping @MainActor @Sendable (GalleryControllers) throws -> Void = { _ in },
        beforeResponse: @escaping @MainActor @Sendable (GalleryControllers) throws -> Void,
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
            try await beforeResponse(controllers)
            answer.finish()
            await another
            try await check(controllers)
        }
    }

    private let former = Session(name: "Ada", token: "former")
    private let newer = Session(name: "Grace", token: "newer")

    @Test func `A notice that appears while a picture is being fetched stays`() async throws {
        try await showAnother {
            $0.noticeboard.show("This was before.")
        } beforeResponse: {
            #expect($0.noticeboard.notice == nil)
            $0.noticeboard.show("It was removed.", offersUndo: true)
        } _: {
            #expect($0.easel.exhibit != nil)
            #expect($0.noticeboard.notice?.text == "It was removed.")
        }
    }

    @Test func `A session that the API does not accept is removed`() async throws {
        try await showAnother { [former] in
            try $0.account.$session.set(former)
        } beforeResponse: { _ in
        } _: {
            #expect($0.account.session == nil)
            #expect($0.noticeboard.notice?.text == "Your session with the API has ended. Please sign in again.")
        }
    }

    @Test func `A user who signs in during the request stays signed in`() async throws {
        try await showAnother { [former] in
            try $0.account.$session.set(former)
        } beforeResponse: { [newer] in
            try $0.account.$session.set(newer)
        } _: { [newer] in
            #expect($0.account.session == newer)
            #expect($0.noticeboard.notice == nil)
        }
    }

    /// A concurrent request.
    @MainActor
    private final class Other {
        var task: Task<Void, Never>?
    }

    @Test func `A user who signs in during the request and requests a picture, too, gets one`() async throws {
        let other = await Other()
        try await showAnother { [former] in
            try $0.account.$session.set(former)
        } beforeResponse: { [newer] controllers in
            try controllers.account.$session.set(newer)
            other.task = Task { await GalleryActions(controllers: controllers).showAnother() }
        } _: { [newer] in
            await other.task?.value
            #expect($0.account.session == newer)
            #expect($0.easel.exhibit != nil)
        }
    }

    @MainActor
    @Test func `The latest request decides whether the API is online`() async {
        let availability = Availability()
        let (answered, answer) = AsyncStream<Void>.makeStream()
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let older = Task {
            await availability.observeIfIdle(for: .zero) { () throws(PictureAPIError) in
                ask.finish()
                for await _ in answered {}
            }
        }
        for await _ in asked {}
        await availability.observeIfIdle(for: .zero) { () throws(PictureAPIError) in throw .unreachable }
        answer.finish()
        await older.value
        #expect(!availability.isOnline)
    }
}
