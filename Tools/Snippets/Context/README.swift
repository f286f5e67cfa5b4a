// Declarations that the page mentions but does not show.

import Bodega
import Boutique
import Foundation

let url: URL = { fatalError() }()
let directory: FileManager.Directory = { fatalError() }()
nonisolated let secrets: any SecretStorage = MemorySecretStorage()
nonisolated let keyset = EncryptionKeyset()
nonisolated let drafts: Store<Note> = { fatalError() }()
nonisolated let notes: Store<Note> = { fatalError() }()
nonisolated let file: SQLiteStorageEngine = { fatalError() }()
nonisolated let token = ""
