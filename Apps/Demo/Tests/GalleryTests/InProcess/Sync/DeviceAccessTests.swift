import Bodega
import BodegaServer
import Foundation
import Testing

@testable import GallerySync

/// What the server of synchronized galleries gives to whom.
struct DeviceAccessTests {

    @Test func `Each device has a token of its own, which gives it the common collections`() async throws {
        let access = DeviceAccess()
        let (laptop, phone) = (access.token(of: "laptop"), access.token(of: "phone"))
        #expect(laptop != phone && access.token(of: "laptop") == laptop)
        #expect(laptop.utf8.count > 50)
        let client = try #require(await access.client(bearing: laptop))
        #expect(client.id == "laptop")
        #expect(Set(client.scopes.keys) == ["favourites", "albums", "favourite-images"])
        #expect(client.otherScope == nil)
        #expect(client.scopes.values.allSatisfy { !$0.rights.contains(.manage) })
        #expect(try await access.client(bearing: phone)?.id == "phone")
        // A device has the same identifier in the next program, with another token.
        let next = DeviceAccess()
        #expect(next.token(of: "laptop") != laptop)
    }

    @Test(arguments: [nil, "", "laptop", "-"])
    func `Without one of these tokens, there is no access`(_ token: String?) async throws {
        let access = DeviceAccess()
        let laptop = access.token(of: "laptop")
        #expect(try await access.client(bearing: token) == nil)
        #expect(try await access.client(bearing: String(laptop.dropLast())) == nil)
        #expect(try await DeviceAccess().client(bearing: laptop) == nil)
    }
}
