import Bodega
import BodegaRemote
import BodegaServer
import BodegaWebTokens
import Foundation
import Testing

/// The tokens were made by PyJWT, see Tests/Fixtures/WebTokens/vectors.py.
@Suite("JSON Web Tokens")
struct WebTokenTests {

    private struct Vectors: Decodable {
        var now: Double
        var secret: Data
        var publicKeys: [String: String]
        var valid: [String: String]
        var attacks: [String: String]
        var bob: String
        var later: String
        var writer: String
    }

    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../../Tests/Fixtures/WebTokens/vectors.json").standardizedFileURL

    private let vectors: Vectors
    private let keySet: Data
    private let keys: [WebTokenKey]

    init() async throws {
        let file = try Data(contentsOf: Self.file)
        let vectors = try JSONDecoder().decode(Vectors.self, from: file)
        let all = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
        keySet = try JSONSerialization.data(withJSONObject: try #require(all["keySet"]))
        var keys: [WebTokenKey] = []
        for algorithm in WebTokenAlgorithm.allCases {
            let id = algorithm.rawValue
            if let text = vectors.publicKeys[id] {
                keys.append(try await WebTokenKey(publicKey: text, algorithm: algorithm, id: id))
            } else {
                keys.append(try await WebTokenKey(secret: vectors.secret, algorithm: algorithm, id: id))
            }
        }
        (self.vectors, self.keys) = (vectors, keys)
    }

    private func access(
        keys: [WebTokenKey]? = nil, at time: Double? = nil, maximumBytes: Int = 8_192
    ) -> WebTokenAccess {
        let now = Date(timeIntervalSince1970: time ?? vectors.now)
        return WebTokenAccess(
            keys: keys ?? self.keys, issuer: "https://login.example.com", audience: "notes",
            maximumBytes: maximumBytes, now: { now }
        ) { claims in
            guard let subject = claims.subject else { return nil }
            let rights: StorageScope.Rights = claims["role"] == "writer" ? .items : .read
            return StorageClient(
                id: subject, scopes: ["notes": StorageScope(where: "owner", equals: subject, rights: rights)])
        }
    }

    @Test("are accepted from another program, with each algorithm")
    func valid() async throws {
        let access = access()
        #expect(vectors.valid.count >= WebTokenAlgorithm.allCases.count)
        for (name, token) in vectors.valid {
            let client = try await access.client(bearing: token)
            #expect(client?.id.hasPrefix("ada.") == true, "\(name)")
            #expect(try #require(client?.expiresAt).timeIntervalSince1970 > vectors.now, "\(name)")
        }
    }

    @Test("of the attacks of RFC 8725 are refused")
    func attacks() async throws {
        let access = access()
        #expect(vectors.attacks.count > 60)
        for (name, token) in vectors.attacks {
            let client = try await access.client(bearing: token)
            #expect(client == nil, "\(name)")
        }
        #expect(try await access.client(bearing: nil) == nil)
        // Only a list of keys that the app has not allowed makes a valid token invalid.
        let others = keys.filter { $0.algorithm != .hs256 }
        #expect(try await self.access(keys: others).client(bearing: vectors.valid["HS256"]) == nil)
    }

    @Test("end with their time, with a difference of the clocks of 30 seconds, and have a maximum size")
    func limits() async throws {
        let token = try #require(vectors.valid["ES256"])
        let end = vectors.now + 600
        #expect(try await access(at: end + 29.9).client(bearing: token) != nil)
        #expect(try await access(at: end + 30).client(bearing: token) == nil)
        #expect(try await access(at: end).client(bearing: token)?.expiresAt?.timeIntervalSince1970 == end + 30)
        let size = token.utf8.count
        #expect(try await access(maximumBytes: size).client(bearing: token) != nil)
        #expect(try await access(maximumBytes: size - 1).client(bearing: token) == nil)
    }

    @Test("are verified with the keys of a set")
    func sets() async throws {
        let all: Set<WebTokenAlgorithm> = Set(WebTokenAlgorithm.allCases)
        let found = try await WebTokenKey.keys(inSet: keySet, algorithms: all)
        // The set says of no key for which algorithm it is, and one of RSA is for two.
        #expect(found.map(\.algorithm.rawValue).sorted() == ["ES256", "ES384", "EdDSA", "PS256", "RS256"])
        let access = access(keys: found.filter { $0.algorithm != .ps256 })
        for name in ["RS256", "ES256", "ES384", "EdDSA"] {
            let client = try await access.client(bearing: vectors.valid[name])
            #expect(client != nil, "\(name)")
        }
        for name in ["HS256", "HS512", "PS256"] {
            let client = try await access.client(bearing: vectors.valid[name])
            #expect(client == nil, "\(name)")
        }
        for (name, token) in vectors.attacks {
            let client = try await access.client(bearing: token)
            #expect(client == nil, "\(name)")
        }
        let one = try await WebTokenKey.keys(inSet: keySet, algorithms: [.es384])
        #expect(one.map(\.id) == ["ES384"])
        for damaged in ["", "{}", #"{"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}]}"#] {
            await #expect(throws: StorageError.self) {
                try await WebTokenKey.keys(inSet: Data(damaged.utf8), algorithms: all)
            }
        }
    }

    @Test("need strong keys of the right kind")
    func weakKeys() async throws {
        for (algorithm, count) in [(WebTokenAlgorithm.hs256, 32), (.hs384, 48), (.hs512, 64)] {
            _ = try await WebTokenKey(secret: Data(count: count), algorithm: algorithm)
            await #expect(throws: StorageError.self) {
                try await WebTokenKey(secret: Data(count: count - 1), algorithm: algorithm)
            }
        }
        await #expect(throws: StorageError.self) {
            try await WebTokenKey(secret: Data(count: 64), algorithm: .es256)
        }
        for (algorithm, key) in [(WebTokenAlgorithm.es256, "RS256"), (.rs256, "ES256"), (.es384, "ES256")] {
            let text = try #require(vectors.publicKeys[key])
            await #expect(throws: StorageError.self) { try await WebTokenKey(publicKey: text, algorithm: algorithm) }
        }
        let text = try #require(vectors.publicKeys["RS256"])
        await #expect(throws: StorageError.self) { try await WebTokenKey(publicKey: text, algorithm: .hs256) }
    }

    @Test("give a client the same view with its next token, and another one with other claims")
    func identity() async throws {
        let access = access()
        let first = try await access.client(bearing: vectors.valid["ES256"])?.id
        #expect(try await access.client(bearing: vectors.later)?.id == first)
        #expect(try await access.client(bearing: vectors.writer)?.id != first)
        #expect(try await access.client(bearing: vectors.bob)?.id != first)

        let database = MemoryStorageEngine()
        try await database.write(Data(#"{"owner":"ada"}"#.utf8), key: CacheKey("a"))
        try await database.write(Data(#"{"owner":"bob"}"#.utf8), key: CacheKey("b"))
        let server = try await TestServer(access: access, ["notes": database])
        let reader = try await server.engine(token: vectors.valid["ES256"])
        #expect(try await reader.fetchKeys() == [CacheKey("a")])
        #expect(try await server.engine(token: vectors.bob).fetchKeys() == [CacheKey("b")])
        let data = Data(#"{"owner":"ada","n":1}"#.utf8)
        let refused = await #expect(throws: StorageError.self) { try await reader.write(data, key: CacheKey("a")) }
        #expect(refused?.code == .permissionDenied)
        try await server.engine(token: vectors.writer).write(data, key: CacheKey("a"))
        #expect(try await reader.fetch(key: CacheKey("a")) == data)
        let attack = await #expect(throws: StorageError.self) {
            try await server.engine(token: vectors.attacks["changed claims"])
        }
        #expect(attack?.code == .unauthorized)
    }
}
