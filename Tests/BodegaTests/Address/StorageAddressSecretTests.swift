import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@Suite struct StorageAddressSecretTests {

    @Test func `No part of a password is shown, regardless of what is wrong with the address`() throws {
        var generator = SeededGenerator(seed: Seed.current)
        for _ in 0..<2_000 {
            let secret = HostileAddress(using: &generator)
            do {
                let address = try StorageAddress(parsing: secret.text)
                var dumped = ""
                dump(address, to: &dumped)
                for text in ["\(address)", String(reflecting: address), dumped] {
                    #expect(!secret.isShown(in: text), "\(text) of \(secret), seed \(Seed.current)")
                }
                #expect { try address.open(mustExist: true) } throws: { !secret.isShown(in: "\($0)") }
            } catch {
                #expect(!secret.isShown(in: "\(error)"), "\(error) of \(secret), seed \(Seed.current)")
            }
        }
    }

    @Test(arguments: ["app:secret@x.db", "a:b@c#d", "x password=1.db"])
    func `An existing file whose name looks like a secret is opened`(name: String) throws {
        let folder = TemporaryFolder()
        let file = folder.file(name).path
        #expect(throws: StorageError.self) { try StorageAddress(parsing: file) }
        _ = try StorageAddress.sqlite(file).open()
        #expect(try StorageAddress(parsing: file) == .sqlite(file))
        #expect(try StorageAddress(parsing: file + "#c") == .sqlite(file, collection: "c"))
        #expect(try StorageAddress(parsing: "sqlite:\(file)#") == .sqlite(file))
    }
}
