// What Apple's Foundation has and the one of other platforms lacks. Unlike the other modules here, no source imports
// this one by name: it is imported into every file, as if it were a part of Foundation.

public import Foundation

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        fatalError("This module is for type-checking only.")
    }
}
