import Testing

@testable import Gallery

struct PictureClientTests {

    /// Asks an API for a picture.
    private func fetch(
        _ api: StubAPI,
        timeLimit: Duration = .seconds(20),
        _ check: @escaping @Sendable (Result<PictureClient.Delivery, PictureAPIError>) -> Void
    ) async throws {
        try await api.run { address in
            let client = PictureClient(address: { address }, timeLimit: timeLimit)
            let result: Result<PictureClient.Delivery, PictureAPIError>
            do throws(PictureAPIError) {
                result = .success(try await client.randomPicture(token: nil))
            } catch {
                result = .failure(error)
            }
            check(result)
        }
    }

    private func expectUnexpected(_ api: StubAPI) async throws {
        try await fetch(api) { result in
            guard case .failure(.unexpected) = result else {
                Issue.record("It was taken: \(result)")
                return
            }
        }
    }

    @Test func `A picture comes with what there is to say about it`() async throws {
        try await fetch(StubAPI()) { result in
            let delivery = try? result.get()
            #expect(delivery?.picture.title == "A Stub")
            #expect(delivery?.image.isEmpty == false)
        }
    }

    @Test(
        arguments: [
            ["id": "../../etc/passwd"], ["id": ""], ["id": "A"], ["title": ""],
            ["title": String(repeating: "x", count: 201)],
            ["colors": ["red"]], ["colors": ["#12345g"]], ["colors": [String]()], ["width": 0], ["height": 100_000],
            ["image": "http://example.com/"], ["image": "@example.com/"], ["image": ""], ["width": "4"],
        ] as [[String: any Sendable]])
    func `A description with values out of bounds is refused`(_ changes: [String: any Sendable]) async throws {
        try await expectUnexpected(StubAPI(description: StubAPI.description(changes)))
    }

    @Test(arguments: ["", "[]", "{}", "nonsense", String(repeating: "[", count: 10_000)])
    func `What is no description is refused`(_ json: String) async throws {
        try await expectUnexpected(StubAPI(description: json))
    }

    @Test func `Answers that are too large are refused`() async throws {
        let long = StubAPI.description(["title": String(repeating: "x", count: PictureClient.descriptionLimit)])
        try await expectUnexpected(StubAPI(description: long))
        try await expectUnexpected(StubAPI(image: String(repeating: " ", count: PictureClient.imageLimit + 1)))
    }

    @Test func `What is no SVG, or nothing, is refused`() async throws {
        try await expectUnexpected(StubAPI(type: "text/html"))
        try await expectUnexpected(StubAPI(image: ""))
    }

    @Test func `Redirects are not followed`() async throws {
        try await expectUnexpected(StubAPI(description: StubAPI.description(["image": "/elsewhere"])))
    }

    @Test func `An answer that does not end is given up`() async throws {
        let api = StubAPI(description: StubAPI.description(["image": "/never"]))
        try await fetch(api, timeLimit: .milliseconds(300)) { result in
            guard case .failure(.unreachable) = result else {
                Issue.record("It was taken: \(result)")
                return
            }
        }
    }

    @Test func `An API that is not there is told from one that talks nonsense`() async throws {
        let client = PictureClient(address: { "http://127.0.0.1:1" })
        await #expect(throws: PictureAPIError.unreachable) { try await client.check() }
    }
}
