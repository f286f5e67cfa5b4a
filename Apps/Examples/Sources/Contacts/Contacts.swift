// An address book in a terminal, on CodableStoreKit: nothing awaits, and each contact is a JSON file that other
// programs can read.

import CodableStoreKit
import Foundation

struct Contact: CodableStoreable, Identifiable, Sendable {
    /// The identifier of a contact is the name of its file.
    let name: String
    var phone: String

    var id: String { name }

    static var codableStoreIdentifier: KeyPath<Contact, String> { \.name }
}

@main
struct Contacts {
    static let help = """
        Usage: Contacts                     lists all contacts
               Contacts add NAME PHONE      adds a contact, or changes its phone number
               Contacts find TEXT           lists the contacts whose names contain a text
               Contacts remove NAME         removes a contact
               Contacts archive FOLDER      copies all contacts to an SQLite file
        """

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            // Errors say what happened, to what, and what to do.
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    static func run(_ arguments: [String]) throws {
        // Called after each change, when it is on disk.
        let subscription = Contact.observeCollection(on: .immediate) { event in
            switch event {
            case .saved(let contact, _, _): print("saved", contact.name)
            case .deleted(let contact, _, _): print("removed", contact.name)
            }
        }
        defer { subscription.unsubscribe() }

        switch (arguments.first, arguments.count) {
        case (nil, _):
            try list { _ in true }
        case ("add", 3):
            try Contact(name: arguments[1], phone: arguments[2]).save()
        case ("find", 2):
            try list { $0.name.localizedCaseInsensitiveContains(arguments[1]) }
        case ("remove", 2):
            try Contact.delete(identifier: arguments[1])
        case ("archive", 2):
            // The archive contains contacts, too, and what is saved there is no news.
            subscription.unsubscribe()
            let folder = FileManager.Directory(url: URL(fileURLWithPath: arguments[1], isDirectory: true))
            let archive = CodableStore<Contact>(engine: .sqlite(in: folder))
            // One result for each contact, so that one that can't be copied doesn't prevent the others.
            for result in try CodableStore<Contact>().copy(toStore: archive) {
                if case .failure(let name, let error) = result { print(name, error) }
            }
            print("archived", try archive.getCollection().count)
        case ("help", _), ("--help", _):
            print(help)
        default:
            FileHandle.standardError.write(Data("\(help)\n".utf8))
            exit(64)
        }
    }

    /// Prints contacts in the order in which they were added, and names files that can't be decoded.
    static func list(where isListed: (Contact) -> Bool) throws {
        let contacts = try CodableStore<Contact>().fetchCollection()
        for contact in contacts.objects where isListed(contact) { print(contact.name, contact.phone) }
        for error in contacts.undecodable { print("unreadable:", error.file?.path ?? "\(error)") }
    }
}
