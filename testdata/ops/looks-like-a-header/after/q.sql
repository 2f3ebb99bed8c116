++ new note
select 1;
