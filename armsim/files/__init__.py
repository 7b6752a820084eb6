"""Files, read and written. YAML becomes a tree of nodes with source positions, which all messages point to; output files and run
folders are written atomically.

What others use:
    document: `Map`, `Seq`, `Scalar`, the nodes, and `Place`, their positions; `shown` and `clipped`, values in messages.
    plain_data: `nodes_of`, the nodes of plain data.
    faults: `Fault`, one fault; `Report`, those of a file; `refuse`, the error of one; `suggestion`, the nearest known word.
    yaml_reader: `read_yaml`. yaml_writer: `yaml_text`.
    csv_reader: `read_csv`. csv_writer: `write_csv`, and `CsvFile`, block by block. parquet: the same of Parquet.
    table: `DataTable`, columns of numbers beside others, and missing cells. table_reader: `read_table`, of either.
    mesh_file: `read_mesh`, the triangles of an STL or OBJ file.
    array_file: `check_array_file`, `write_arrays`, for .npz.
    destination: `Destination`, the folder of a run, a study or an export.
    new_file: `whole_file`, atomic writing, and `output_file`, of a file that a user names, which `check_output` tries before;
        `write_files`, all or none; `made_folder`. interrupts: `interrupts_later`, `ended_by`.
    regular_file: `read_regular`, `open_own`, `check_own`: no pipes are waited for, no links followed in folders of armsim's;
        `readable`, what keeps a file from being read, in words.
    run_record: `run_record`, what the folder of a run holds. row_blocks: `FileRows`, the rows of its tables, block by block.
    folder_kind: RUN and PLAN, what such folders hold. new_folder: `check_target`, `new_folder`, atomic writing of one. recovery:
        `recover`. study_folder: `study_folder`, whose table grows; study_record: study.yaml. Below them: claim, hidden names and
        locks; exchange, renames and data on disk.
    foreign, neighbours: files of other programs, and files that were probably meant.
    shipped: `shipped_names`, `shipped_path`, `looks_like_a_file`. source: `Source`, a file read and its hash; `find_file`.
    pages: `PAGES`, `page_text`, the documentation.
"""
